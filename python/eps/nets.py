"""The networks of `eps train` as torch.nn.Modules, to be read and changed.

DDPM++ (Song et al. 2021, as in Karras et al. 2022) and the local U-Net for pictures of any size. The
tensors have the names of the checkpoints, and the answers are those of the C++ to rounding.
"""
import math
from typing import Any, Dict, List, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._eps import Error


class Resample(nn.Module):
    """A 2 x 2 box filter, down or up by a factor of 2."""

    resample_filter: Tensor

    def __init__(self, way: str):
        super().__init__()
        self.way = way
        self.register_buffer("resample_filter", torch.full((1, 1, 2, 2), 0.25))

    def resample(self, x: Tensor) -> Tensor:
        if self.way == "down":
            return F.avg_pool2d(x, 2)
        return F.interpolate(x, scale_factor=2.0, mode="nearest")


class ResampledConv(Resample):
    """Resampling, then a convolution."""

    def __init__(self, inputs: int, outputs: int, kernel: int, way: str):
        super().__init__(way)
        conv = nn.Conv2d(inputs, outputs, kernel)
        self.weight, self.bias, self.padding = conv.weight, conv.bias, kernel // 2

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(self.resample(x), self.weight, self.bias, padding=self.padding)


def conv(inputs: int, outputs: int, kernel: int, way: str = "") -> nn.Module:
    if way:
        return ResampledConv(inputs, outputs, kernel, way)
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2)


class PixelNorm(nn.Module):
    """The root mean square over the channels of each pixel becomes 1."""

    def __init__(self, channels: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        h = x * (x.square().mean(1, keepdim=True) + 1e-5).rsqrt()
        return h * self.weight[:, None, None] + self.bias[:, None, None]


def group_norm(channels: int, eps: float) -> nn.Module:
    return nn.GroupNorm(min(32, channels // 4), channels, eps)


def _near_zero(module: nn.Module, scale: float) -> nn.Module:
    """Scales a layer's initial weights, as EDM does at the end of each branch."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(scale)
    return module


class Block(nn.Module):
    """A residual block; the noise level enters as an offset, or as scale and shift."""

    def __init__(
        self, config: Dict[str, Any], inputs: int, outputs: int, way: str = "", attention: bool = False
    ):
        super().__init__()
        local = config["model_type"] == "LocalUNet"
        pixel = local and config.get("norm", "pixel") == "pixel"

        def norm(channels: int) -> nn.Module:
            return PixelNorm(channels) if pixel else group_norm(channels, 1e-5 if local else 1e-6)

        width = config["model_channels"] * config.get("channel_mult_emb", 4)
        self.adaptive = local
        self.scale = 1.0 if local else math.sqrt(0.5)
        self.dropout = config.get("dropout", 0.0)
        self.norm0 = norm(inputs)
        self.conv0 = conv(inputs, outputs, 3, way)
        self.affine = nn.Linear(width, outputs * (2 if local else 1))
        self.norm1 = norm(outputs)
        self.conv1 = _near_zero(conv(outputs, outputs, 3), 1e-5)
        self.skip: Optional[nn.Module] = None
        if inputs != outputs or way:
            self.skip = conv(inputs, outputs, 1, way)
        self.attends = attention
        if attention:
            self.norm2 = norm(outputs)
            self.qkv = conv(outputs, 3 * outputs, 1)
            self.proj = _near_zero(conv(outputs, outputs, 1), 1e-5)

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        h = self.conv0(F.silu(self.norm0(x)))
        parameters = self.affine(embedding)[:, :, None, None]
        if self.adaptive:
            scale, shift = parameters.chunk(2, 1)
            h = self.norm1(h) * (scale + 1) + shift
        else:
            h = self.norm1(h + parameters)
        h = self.conv1(F.dropout(F.silu(h), self.dropout, self.training))
        x = (h + (x if self.skip is None else self.skip(x))) * self.scale
        return self.attention(x) if self.attends else x

    def attention(self, x: Tensor) -> Tensor:
        n, c, height, width = x.shape
        q, k, v = self.qkv(self.norm2(x)).reshape(n, c, 3, height * width).unbind(2)
        weights = torch.softmax(q.transpose(1, 2) @ k / math.sqrt(c), -1)  # (N, pixels, pixels)
        h = (v @ weights.transpose(1, 2)).reshape(n, c, height, width)
        return (x + self.proj(h)) * self.scale


class Embedding(nn.Module):
    """The noise level, and the class where there is one, as a vector."""

    map_label: nn.Linear

    def embedding_layers(self, config: Dict[str, Any], sine_first: bool) -> None:
        channels = config["model_channels"]
        noise = channels * config.get("channel_mult_noise", 1)
        width = channels * config.get("channel_mult_emb", 4)
        self.frequencies, self.sine_first = noise // 2, sine_first
        self.classes = config.get("label_dim", 0)
        if self.classes:  # of DDPM++ beside the noise level, of the local U-Net behind its layers
            self.map_label = nn.Linear(self.classes, noise if sine_first else width, bias=sine_first)
        self.map_layer0 = nn.Linear(noise, width)
        self.map_layer1 = nn.Linear(width, width)

    def embed(self, noise_labels: Tensor, labels: Optional[Tensor]) -> Tensor:
        steps = torch.arange(self.frequencies, device=noise_labels.device, dtype=torch.float32)
        frequencies = (1 / 10000) ** (steps / (self.frequencies - (1 if self.sine_first else 0)))
        angle = noise_labels.float()[:, None] * frequencies
        parts = [angle.sin(), angle.cos()] if self.sine_first else [angle.cos(), angle.sin()]
        h = torch.cat(parts, 1).to(self.map_layer0.weight.dtype)
        known = h.new_zeros(1, self.classes) if labels is None else labels.to(h)
        if self.classes and self.sine_first:
            h = h + self.map_label(known * math.sqrt(self.classes))
        h = self.map_layer1(F.silu(self.map_layer0(h)))
        if self.classes and not self.sine_first:
            h = h + self.map_label(known)
        return F.silu(h)


class SongUNet(Embedding):
    """DDPM++: group norm, attention at some resolutions, a skip from every block."""

    def __init__(self, config: Dict[str, Any]):
        super().__init__()
        self.embedding_layers(config, sine_first=True)
        side, base = config["img_resolution"], config["model_channels"]
        widths: List[int] = [base * m for m in config["channel_mult"]]
        attends = [side >> level in config["attn_resolutions"] for level in range(len(widths))]
        blocks, last = config["num_blocks"], len(widths) - 1
        self.enc, self.dec = nn.ModuleDict(), nn.ModuleDict()
        channels, skips = base, [base]
        for level, width in enumerate(widths):
            name = f"{side >> level}x{side >> level}"
            if level == 0:
                self.enc[f"{name}_conv"] = conv(config["in_channels"], base, 3)
            else:
                self.enc[f"{name}_down"] = Block(config, channels, channels, "down")
                skips.append(channels)
            for i in range(blocks):
                self.enc[f"{name}_block{i}"] = Block(config, channels, width, "", attends[level])
                channels = width
                skips.append(channels)
        for level in range(last, -1, -1):
            name = f"{side >> level}x{side >> level}"
            if level == last:
                self.dec[f"{name}_in0"] = Block(config, channels, channels, "", True)
                self.dec[f"{name}_in1"] = Block(config, channels, channels)
            else:
                self.dec[f"{name}_up"] = Block(config, channels, channels, "up")
            for i in range(blocks + 1):
                attention = attends[level] and i == blocks
                self.dec[f"{name}_block{i}"] = Block(
                    config, channels + skips.pop(), widths[level], "", attention
                )
                channels = widths[level]
        self.dec[f"{side}x{side}_aux_norm"] = group_norm(channels, 1e-6)
        self.dec[f"{side}x{side}_aux_conv"] = _near_zero(
            conv(channels, config["out_channels"], 3), 1e-5
        )

    def forward(
        self, x: Tensor, noise_labels: Tensor, class_labels: Optional[Tensor] = None
    ) -> Tensor:
        embedding = self.embed(noise_labels, class_labels)
        skips: List[Tensor] = []
        for layer in self.enc.values():
            x = layer(x, embedding) if isinstance(layer, Block) else layer(x)
            skips.append(x)
        for name, layer in self.dec.items():
            if "_block" in name:
                x = torch.cat([x, skips.pop()], 1)
            if isinstance(layer, Block):
                x = layer(x, embedding)
            else:
                x = layer(x) if name.endswith("_conv") else F.silu(layer(x))
        return x


def split_pixels(x: Tensor) -> Tensor:
    """Returns (N, 4 C, H, W) as (N, C, 2 H, 2 W): upper left, upper right, lower left, lower right."""
    n, c, height, width = x.shape
    parts = x.reshape(n, 2, 2, c // 4, height, width).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // 4, 2 * height, 2 * width)


class LocalUNet(Embedding):
    """A U-Net for pictures of any size: no attention, a norm of each pixel by itself."""

    def __init__(self, config: Dict[str, Any]):
        super().__init__()
        self.embedding_layers(config, sine_first=False)
        widths = [config["model_channels"] * m for m in config["channel_mult"]]
        self.patch, self.last = config.get("patch", 1), len(widths) - 1
        self.blocks = config["num_blocks"]
        inputs, outputs = config["in_channels"], config["out_channels"]
        if self.patch == 2:
            self.conv_in: nn.Module = nn.Conv2d(inputs, widths[0], 2, stride=2)
        else:
            self.conv_in = conv(inputs, widths[0], 3)
        for level, width in enumerate(widths):
            parts = ["mid"] if level == self.last else ["enc", "dec"]
            for name in [f"{part}{level}_block{i}" for part in parts for i in range(self.blocks)]:
                self.add_module(name, Block(config, width, width))
            if level < self.last:
                deeper = widths[level + 1]
                self.add_module(f"merge{level}", nn.Conv2d(width, deeper, 2, stride=2))
                self.add_module(f"split{level}", nn.Conv2d(deeper, 4 * width, 1))
        pixel = config.get("norm", "pixel") == "pixel"
        self.norm_out = PixelNorm(widths[0]) if pixel else group_norm(widths[0], 1e-5)
        self.conv_out = _near_zero(conv(widths[0], outputs * self.patch**2, 3), 0)

    def forward(
        self, x: Tensor, noise_labels: Tensor, class_labels: Optional[Tensor] = None
    ) -> Tensor:
        embedding = self.embed(noise_labels, class_labels)
        height, width = x.shape[2:]
        divisor = self.patch << self.last
        x = F.pad(x, (0, -width % divisor, 0, -height % divisor), mode="reflect")
        x = self.conv_in(x)
        skips = []
        for level in range(self.last):
            x = self.run(f"enc{level}", x, embedding)
            skips.append(x)
            x = self.get_submodule(f"merge{level}")(x)
        x = self.run(f"mid{self.last}", x, embedding)
        for level in range(self.last - 1, -1, -1):
            x = split_pixels(self.get_submodule(f"split{level}")(x)) + skips.pop()
            x = self.run(f"dec{level}", x, embedding)
        x = self.conv_out(F.silu(self.norm_out(x)))
        return (split_pixels(x) if self.patch == 2 else x)[:, :, :height, :width]

    def run(self, part: str, x: Tensor, embedding: Tensor) -> Tensor:
        for i in range(self.blocks):
            x = self.get_submodule(f"{part}_block{i}")(x, embedding)
        return x


def unet(config: Dict[str, Any]) -> nn.Module:
    """Returns the network of a configuration, `Network.config`, with initial weights."""
    kind = config.get("model_type", "SongUNet")
    plain = (
        config.get("embedding_type", "positional") == "positional"
        and config.get("encoder_type", "standard") == "standard"
        and config.get("decoder_type", "standard") == "standard"
        and config.get("resample_filter", [1, 1]) == [1, 1]
        and config.get("augment_dim", 0) == 0
    )
    if kind == "SongUNet" and plain:
        return SongUNet(config)
    if kind == "LocalUNet":
        return LocalUNet(config)
    raise Error(f"nets: DDPM++ and local U-Nets are written in Python; this {kind} runs in C++ only")
