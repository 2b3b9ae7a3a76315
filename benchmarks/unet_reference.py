#!/usr/bin/env python3
"""Times the DDPM++ of unet_bench.cc in ordinary PyTorch: torch.nn modules, eager, NCHW.

Prints one line per batch size: the batch, the mean time of an evaluation in milliseconds, and the
mean square of the output, which shows that both programs compute the same function: one formula
fills every tensor of both (see fill).
"""
import argparse
import math
import time

import torch
from torch import nn
from torch.nn import functional as F

BASE, MULTIPLIERS, BLOCKS, ATTENTION, SIZE = 32, (1, 2, 2, 2), 4, (16,), 64
WIDTH = 4 * BASE


def group_norm(channels):
    return nn.GroupNorm(min(32, channels // 4), channels, eps=1e-6)


class Block(nn.Module):
    def __init__(self, cin, cout, resample=None, attention=False):
        super().__init__()
        self.resample = resample
        self.norm0 = group_norm(cin)
        self.conv0 = nn.Conv2d(cin, cout, 3, padding=1)
        self.affine = nn.Linear(WIDTH, cout)
        self.norm1 = group_norm(cout)
        self.conv1 = nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout or resample else None
        self.norm2 = self.qkv = self.proj = None
        if attention:
            self.norm2 = group_norm(cout)
            self.qkv = nn.Conv2d(cout, 3 * cout, 1)
            self.proj = nn.Conv2d(cout, cout, 1)

    def rescale(self, x):
        if self.resample == "down":
            return F.avg_pool2d(x, 2)
        if self.resample == "up":
            return F.interpolate(x, scale_factor=2, mode="nearest")
        return x

    def forward(self, x, embedding):
        h = self.conv0(self.rescale(F.silu(self.norm0(x))))
        h = h + self.affine(embedding)[:, :, None, None]
        h = self.conv1(F.silu(self.norm1(h)))
        skip = self.rescale(x)
        h = (h + (self.skip(skip) if self.skip is not None else skip)) * math.sqrt(0.5)
        if self.qkv is None:
            return h
        n, c, height, width = h.shape
        q, k, v = self.qkv(self.norm2(h)).reshape(n, c, 3, height * width).unbind(2)
        weights = torch.softmax(q.transpose(1, 2) @ k / math.sqrt(c), dim=2)
        a = (v @ weights.transpose(1, 2)).reshape(n, c, height, width)
        return (self.proj(a) + h) * math.sqrt(0.5)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.map_layer0 = nn.Linear(BASE, WIDTH)
        self.map_layer1 = nn.Linear(WIDTH, WIDTH)
        self.enc = nn.ModuleDict()
        self.dec = nn.ModuleDict()
        channels = BASE
        self.enc[f"{SIZE}x{SIZE}_conv"] = nn.Conv2d(3, channels, 3, padding=1)
        skips = [channels]
        for level, multiplier in enumerate(MULTIPLIERS):
            name = f"{SIZE >> level}x{SIZE >> level}"
            if level > 0:
                self.enc[name + "_down"] = Block(channels, channels, "down")
                skips.append(channels)
            for i in range(BLOCKS):
                cin, channels = channels, BASE * multiplier
                attends = SIZE >> level in ATTENTION
                self.enc[f"{name}_block{i}"] = Block(cin, channels, attention=attends)
                skips.append(channels)
        for level, multiplier in reversed(list(enumerate(MULTIPLIERS))):
            name = f"{SIZE >> level}x{SIZE >> level}"
            if level == len(MULTIPLIERS) - 1:
                self.dec[name + "_in0"] = Block(channels, channels, attention=True)
                self.dec[name + "_in1"] = Block(channels, channels)
            else:
                self.dec[name + "_up"] = Block(channels, channels, "up")
            for i in range(BLOCKS + 1):
                cin, channels = channels + skips.pop(), BASE * multiplier
                attends = SIZE >> level in ATTENTION and i == BLOCKS
                self.dec[f"{name}_block{i}"] = Block(cin, channels, attention=attends)
        self.dec[f"{SIZE}x{SIZE}_aux_norm"] = group_norm(channels)
        self.dec[f"{SIZE}x{SIZE}_aux_conv"] = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x, noise):
        half = BASE // 2
        angle = noise[:, None] * 1e-4 ** (torch.arange(half) / (half - 1))
        embedding = torch.cat([angle.sin(), angle.cos()], dim=1)
        embedding = F.silu(self.map_layer1(F.silu(self.map_layer0(embedding))))
        skips = []
        for module in self.enc.values():
            x = module(x, embedding) if isinstance(module, Block) else module(x)
            skips.append(x)
        for name, module in self.dec.items():
            if "aux" in name:
                x = module(F.silu(x) if "aux_conv" in name else x)
            else:
                if "block" in name:
                    x = torch.cat([x, skips.pop()], dim=1)
                x = module(x, embedding)
        return x


def waves(*shape):
    """Returns sqrt(2) sin(i^2) for i = 0, 1, ... in this shape."""
    i = torch.arange(math.prod(shape), dtype=torch.float64)
    return (math.sqrt(2) * torch.sin(i * i)).reshape(shape)


def fill(network):
    """Sets number i of a tensor with fan-in f to w(i) / sqrt(f), of norms to 1 + w(i) / 10 and w(i) / 10."""
    for name, tensor in network.named_parameters():
        wave = waves(*tensor.shape)
        if "norm" in name:
            wave = wave / 10 + (1 if name.endswith("weight") else 0)
        else:
            wave = wave / math.sqrt(tensor[0].numel())
        tensor.data.copy_(wave)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    network = UNet().eval()
    fill(network)
    with torch.inference_mode():
        for batch in (1, 8):
            x = waves(batch, 3, SIZE, SIZE).float()
            noise = torch.full((batch,), -0.3)
            answer = network(x, noise)
            count, start = 0, time.perf_counter()
            while time.perf_counter() < start + options.seconds:
                network(x, noise)
                count += 1
            milliseconds = 1e3 * (time.perf_counter() - start) / count
            print(f"{batch} {milliseconds:.2f} {answer.square().mean():.4g}")


if __name__ == "__main__":
    main()
