#!/usr/bin/env python3
"""The networks of guided-diffusion and of diffusers (UNet2DModel), from their formulas, for tests.

    tests/reference/foreign_networks.py --fixtures tests/fixtures   records the answers of small ones
    tests/reference/foreign_networks.py --files FOLDER              writes them as torch.save does
    tests/reference/foreign_networks.py --diffusers                 compares with the package itself
    tests/reference/foreign_networks.py --original FOLDER           likewise with a checkout of guided-diffusion
    tests/reference/foreign_networks.py --published NAME EPS        compares the program EPS at a published size

A network is a function of an image, a step and a class that asks `P(name, shape)` for its tensors.
No weights are stored: number i of tensor k, by name, is a wave (see `weights`), here and in
tests/model/foreign_networks.h. Answers are in float64: the denoised image at the network's own steps.
"""
import argparse
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import types

import numpy as np
import torch
import torch.nn.functional as F


# Layers. x is (N, C, H, W), emb (N, E).
def conv(P, name, x, out, kernel, stride=1, padding=None):
    weight = P(name + ".weight", (out, x.shape[1], kernel, kernel))
    padding = kernel // 2 if padding is None else padding
    return F.conv2d(x, weight, P(name + ".bias", (out,)), stride, padding)


def linear(P, name, x, out):
    return F.linear(x, P(name + ".weight", (out, x.shape[-1])), P(name + ".bias", (out,)))


def norm(P, name, x, groups=32, eps=1e-5):
    c = x.shape[1]
    return F.group_norm(x, groups, P(name + ".weight", (c,)), P(name + ".bias", (c,)), eps)


def softmax_attention(q, k, v):
    """q, k and v are (N, heads, channels of a head, pixels)."""
    weight = torch.einsum("nhct,nhcs->nhts", q, k) / math.sqrt(q.shape[2])
    return torch.einsum("nhts,nhcs->nhct", weight.softmax(-1), v)


# guided-diffusion.
def adm_block(P, name, x, emb, out, c, resample=None):
    h = F.silu(norm(P, name + ".in_layers.0", x))
    if resample:
        h, x = resample(h), resample(x)
    h = conv(P, name + ".in_layers.2", h, out, 3)
    e = linear(P, name + ".emb_layers.1", F.silu(emb), out * (2 if c["scale_shift"] else 1))
    e = e[:, :, None, None]
    if c["scale_shift"]:
        scale, shift = e.chunk(2, 1)
        h = norm(P, name + ".out_layers.0", h) * (1 + scale) + shift
    else:
        h = norm(P, name + ".out_layers.0", h + e)
    h = conv(P, name + ".out_layers.3", F.silu(h), out, 3)
    return h + (x if out == x.shape[1] else conv(P, name + ".skip_connection", x, out, 1))


def adm_attention(P, name, x, c):
    n, channels, height, width = x.shape
    heads = c.get("heads") or channels // c["head_channels"]
    h = norm(P, name + ".norm", x).reshape(n, channels, -1)
    qkv = F.conv1d(h, P(name + ".qkv.weight", (3 * channels, channels, 1)), P(name + ".qkv.bias", (3 * channels,)))
    if c["order"] == "legacy":  # the heads first, then q, k, v
        q, k, v = qkv.reshape(n, heads, 3 * channels // heads, -1).chunk(3, 2)
    else:
        q, k, v = (part.reshape(n, heads, channels // heads, -1) for part in qkv.chunk(3, 1))
    h = softmax_attention(q, k, v).reshape(n, channels, -1)
    h = F.conv1d(h, P(name + ".proj_out.weight", (channels, channels, 1)), P(name + ".proj_out.bias", (channels,)))
    return x + h.reshape(x.shape)


def adm(P, x, t, label, c):
    width, mult = c["width"], c["mult"]
    half = width // 2
    angle = t[:, None] * torch.exp(-math.log(10000) * torch.arange(half, dtype=x.dtype) / half)
    emb = torch.cat([angle.cos(), angle.sin()], 1)
    emb = linear(P, "time_embed.2", F.silu(linear(P, "time_embed.0", emb, 4 * width)), 4 * width)
    if c["classes"]:
        emb = emb + P("label_emb.weight", (c["classes"], 4 * width))[label]
    halve, double = (lambda h: F.avg_pool2d(h, 2)), (lambda h: F.interpolate(h, scale_factor=2))

    def block(name, h, out, level):
        h = adm_block(P, name + ".0", h, emb, out, c)
        return adm_attention(P, name + ".1", h, c) if level in c["attention"] else h

    h = conv(P, "input_blocks.0.0", x, int(mult[0] * width), 3)
    skips, index = [h], 1
    for level, m in enumerate(mult):
        for _ in range(c["blocks"]):
            h = block(f"input_blocks.{index}", h, int(m * width), level)
            skips.append(h)
            index += 1
        if level < len(mult) - 1:
            name = f"input_blocks.{index}.0"
            if c["updown"]:
                h = adm_block(P, name, h, emb, h.shape[1], c, halve)
            else:
                h = conv(P, name + ".op", h, h.shape[1], 3, stride=2)
            skips.append(h)
            index += 1
    h = adm_block(P, "middle_block.0", h, emb, h.shape[1], c)
    h = adm_attention(P, "middle_block.1", h, c)
    h = adm_block(P, "middle_block.2", h, emb, h.shape[1], c)
    index = 0
    for level, m in reversed(list(enumerate(mult))):
        for i in range(c["blocks"] + 1):
            h = block(f"output_blocks.{index}", torch.cat([h, skips.pop()], 1), int(m * width), level)
            if level > 0 and i == c["blocks"]:
                name = f"output_blocks.{index}.{2 if level in c['attention'] else 1}"
                if c["updown"]:
                    h = adm_block(P, name, h, emb, h.shape[1], c, double)
                else:
                    h = conv(P, name + ".conv", double(h), h.shape[1], 3)
            index += 1
    return conv(P, "out.2", F.silu(norm(P, "out.0", h)), x.shape[1] * (2 if c["variance"] else 1), 3)


# diffusers. c is the config.json of the network.
def resnet(P, name, x, emb, out, c):
    groups, eps = c["norm_num_groups"], c["norm_eps"]
    h = conv(P, name + ".conv1", F.silu(norm(P, name + ".norm1", x, groups, eps)), out, 3)
    h = h + linear(P, name + ".time_emb_proj", F.silu(emb), out)[:, :, None, None]
    h = conv(P, name + ".conv2", F.silu(norm(P, name + ".norm2", h, groups, eps)), out, 3)
    return h + (x if out == x.shape[1] else conv(P, name + ".conv_shortcut", x, out, 1))


def attention(P, name, x, c):
    n, channels, height, width = x.shape
    heads = channels // (c["attention_head_dim"] or channels)
    names = ["query", "key", "value", "proj_attn"] if c.get("_old_names") else ["to_q", "to_k", "to_v", "to_out.0"]
    h = norm(P, name + ".group_norm", x, c["norm_num_groups"], c["norm_eps"]).flatten(2).transpose(1, 2)
    q, k, v = (
        linear(P, name + "." + part, h, channels).transpose(1, 2).reshape(n, heads, channels // heads, -1)
        for part in names[:3]
    )
    h = softmax_attention(q, k, v).reshape(n, channels, -1).transpose(1, 2)
    h = linear(P, name + "." + names[3], h, channels)
    return x + h.transpose(1, 2).reshape(x.shape)


def unet2d(P, x, t, label, c):
    widths, layers = c["block_out_channels"], c["layers_per_block"]
    half = widths[0] // 2
    angle = t[:, None] * torch.exp(
        -math.log(10000) * torch.arange(half, dtype=x.dtype) / (half - c["freq_shift"])
    )
    emb = torch.cat([angle.cos(), angle.sin()] if c["flip_sin_to_cos"] else [angle.sin(), angle.cos()], 1)
    wide = 4 * widths[0]
    emb = linear(P, "time_embedding.linear_2", F.silu(linear(P, "time_embedding.linear_1", emb, wide)), wide)
    if c["num_class_embeds"]:
        emb = emb + P("class_embedding.weight", (c["num_class_embeds"], wide))[label]
    h = conv(P, "conv_in", x, widths[0], 3)
    skips = [h]
    for level, kind in enumerate(c["down_block_types"]):
        name = f"down_blocks.{level}"
        for i in range(layers):
            h = resnet(P, f"{name}.resnets.{i}", h, emb, widths[level], c)
            if kind == "AttnDownBlock2D":
                h = attention(P, f"{name}.attentions.{i}", h, c)
            skips.append(h)
        if level < len(widths) - 1:
            if c["downsample_padding"] == 0:
                h = conv(P, name + ".downsamplers.0.conv", F.pad(h, (0, 1, 0, 1)), widths[level], 3, 2, 0)
            else:
                h = conv(P, name + ".downsamplers.0.conv", h, widths[level], 3, 2)
            skips.append(h)
    h = resnet(P, "mid_block.resnets.0", h, emb, widths[-1], c)
    h = attention(P, "mid_block.attentions.0", h, c)
    h = resnet(P, "mid_block.resnets.1", h, emb, widths[-1], c)
    for level, kind in enumerate(c["up_block_types"]):
        name, width = f"up_blocks.{level}", widths[-1 - level]
        for i in range(layers + 1):
            h = resnet(P, f"{name}.resnets.{i}", torch.cat([h, skips.pop()], 1), emb, width, c)
            if kind == "AttnUpBlock2D":
                h = attention(P, f"{name}.attentions.{i}", h, c)
        if level < len(widths) - 1:
            h = conv(P, name + ".upsamplers.0.conv", F.interpolate(h, scale_factor=2), width, 3)
    h = norm(P, "conv_norm_out", h, c["norm_num_groups"], c["norm_eps"])
    return conv(P, "conv_out", F.silu(h), c["out_channels"], 3)


# Noise schedules: the products of 1 - beta.
def powers(schedule, steps, start=1e-4, end=0.02):
    if schedule == "linear":
        betas = np.linspace(start, end, steps)
    elif schedule == "scaled_linear":
        betas = np.linspace(start**0.5, end**0.5, steps) ** 2
    else:
        share = lambda time: math.cos((time + 0.008) / 1.008 * math.pi / 2) ** 2
        betas = np.array([min(1 - share((i + 1) / steps) / share(i / steps), 0.999) for i in range(steps)])
    return np.cumprod(1 - betas)


def denoised(answer, x_t, power, prediction):
    a = torch.tensor(power, dtype=x_t.dtype)[:, None, None, None]
    answer = answer[:, : x_t.shape[1]]
    if prediction == "epsilon":
        return (1 / a).sqrt() * x_t - (1 / a - 1).sqrt() * answer
    return a.sqrt() * x_t - (1 - a).sqrt() * answer if prediction == "v_prediction" else answer


def weights(shapes):
    """Number i of tensor k of the names in order is sin(i^2 (1 + k / 1000)), scaled by its fan-in."""
    tensors = {}
    for k, (name, shape) in enumerate(sorted(shapes.items())):
        i = torch.arange(math.prod(shape), dtype=torch.float64)
        wave = torch.sin(i * i * (1 + k / 1000)).reshape(shape) * math.sqrt(2)
        if len(shape) == 1:
            tensors[name] = wave / 10 + (1 if name.endswith("weight") else 0)
        else:
            tensors[name] = wave / math.sqrt(math.prod(shape[1:]))
    return {name: tensor.float() for name, tensor in tensors.items()}


ADM = dict(width=32, mult=(1, 2), blocks=2, attention=[1], classes=0, variance=True, scale_shift=True, updown=True,
           head_channels=16, order="legacy")
UNET2D = dict(
    _class_name="UNet2DModel", act_fn="silu", attention_head_dim=None, block_out_channels=[32, 64],
    center_input_sample=False, down_block_types=["DownBlock2D", "AttnDownBlock2D"], downsample_padding=0,
    flip_sin_to_cos=False, freq_shift=1, in_channels=3, layers_per_block=2, mid_block_scale_factor=1, norm_eps=1e-06,
    norm_num_groups=32, num_class_embeds=None, out_channels=3, sample_size=16, time_embedding_type="positional",
    up_block_types=["AttnUpBlock2D", "UpBlock2D"])
DDPM = dict(_class_name="DDPMScheduler", beta_end=0.02, beta_schedule="linear", beta_start=0.0001,
            num_train_timesteps=1000, prediction_type="epsilon", trained_betas=None)

# A network, what the tensors do not tell of it, and its process.
CASES = {
    "adm_classes": (dict(ADM, classes=5), "head_channels=16", ("linear", 1000)),
    "adm_ffhq": (dict(ADM, width=64, mult=(0.5, 0.5, 1), blocks=1, head_channels=8), "head_channels=8,size=16",
                 ("linear", 1000)),
    "adm_new_order": (dict(ADM, mult=(1, 1, 2), blocks=1, order="new", head_channels=8),
                      "head_channels=8,attention=new,schedule=cosine,size=16", ("cosine", 1000)),
    "adm_convolutions": (dict(ADM, updown=False, scale_shift=False, variance=False, blocks=1, head_channels=None,
                              heads=4, attention=[0, 1]), "heads=4,schedule=cosine,steps=4000", ("cosine", 4000)),
    "unet2d_old": (dict(UNET2D, _old_names=True), "", dict(DDPM)),
    "unet2d_new": (dict(UNET2D), "", dict(DDPM)),
    "unet2d_v": (dict(UNET2D, attention_head_dim=8, downsample_padding=1, flip_sin_to_cos=True, freq_shift=0,
                      norm_eps=1e-05, norm_num_groups=8, num_class_embeds=4, layers_per_block=1,
                      block_out_channels=[48, 32, 64], out_channels=6,
                      down_block_types=["DownBlock2D", "AttnDownBlock2D", "DownBlock2D"],
                      up_block_types=["UpBlock2D", "AttnUpBlock2D", "UpBlock2D"]), "",
                 dict(DDPM, prediction_type="v_prediction", beta_schedule="scaled_linear", beta_start=0.00085,
                      beta_end=0.012)),
}


# The published sizes, of which a file tells all but what the program knows.
PUBLISHED = {
    "ffhq_10m": (dict(ADM, width=128, mult=(1, 1, 2, 2, 4, 4), blocks=1, attention=[4], head_channels=64), "linear"),
    "imagenet64": (dict(ADM, width=192, mult=(1, 2, 3, 4), blocks=3, attention=[1, 2, 3], head_channels=64,
                        classes=1000, order="new"), "cosine"),
    "imagenet128": (dict(ADM, width=256, mult=(1, 1, 2, 3, 4), attention=[2, 3, 4], heads=4, classes=1000), "linear"),
    "imagenet256": (dict(ADM, width=256, mult=(1, 1, 2, 2, 4, 4), attention=[3, 4, 5], head_channels=64), "linear"),
    "imagenet512": (dict(ADM, width=256, mult=(0.5, 1, 1, 2, 2, 4, 4), attention=[4, 5, 6], head_channels=64,
                         classes=1000), "linear"),
}


def forward_of(name):
    return adm if name.startswith("adm") else unet2d


def shapes_of(forward, config, side=16):
    shapes = {}

    def declare(key, shape):
        shapes[key] = tuple(shape)
        return torch.zeros(()).expand(shape)

    with torch.no_grad():
        forward(declare, torch.zeros(1, 3, side, side), torch.zeros(1), torch.zeros(1, dtype=torch.long), config)
    return shapes


def answer(name):
    """Returns the state dict, and x, sigma, labels and the denoised image D at three steps."""
    config, _, process = CASES[name]
    state = weights(shapes_of(forward_of(name), config))
    if isinstance(process, tuple):
        schedule, steps, prediction = *process, "epsilon"
        power = powers(schedule, steps)
    else:
        schedule, steps, prediction = process["beta_schedule"], process["num_train_timesteps"], process["prediction_type"]
        power = powers(schedule, steps, process["beta_start"], process["beta_end"])
    t = torch.tensor([3, 400, 700]) * (steps // 1000)
    # Networks of guided-diffusion are told the step on a scale of 1000.
    label_of_step = t.double() * (1000 / steps if name.startswith("adm") else 1)
    generator = torch.Generator().manual_seed(1)
    x_t = torch.randn((3, 3, 16, 16), generator=generator, dtype=torch.float64)
    labels = torch.tensor([1, 0, 3])
    with torch.no_grad():
        out = forward_of(name)(lambda key, shape: state[key].double(), x_t, label_of_step, labels, config)
    a = power[t.numpy()]
    tensors = {"x": x_t / torch.tensor(a).sqrt()[:, None, None, None], "D": denoised(out, x_t, a, prediction),
               "sigma": torch.tensor(np.sqrt(1 / a - 1))}
    if config.get("classes") or config.get("num_class_embeds"):
        tensors["labels"] = F.one_hot(labels, config.get("classes") or config["num_class_embeds"])
    return state, tensors


def write_safetensors(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in sorted(tensors.items()):
        array = tensor.double().numpy() if name == "sigma" else tensor.float().numpy()
        content = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": f"F{8 * array.itemsize}", "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def public(config):
    return json.dumps({key: value for key, value in config.items() if not key.startswith("_old")})


def write_fixtures(folder):
    for name, (config, options, process) in CASES.items():
        metadata = {"shapes": json.dumps(shapes_of(forward_of(name), config), separators=(",", ":")), "options": options}
        if name.startswith("unet2d"):
            metadata.update(network=public(config), scheduler=public(process))
        write_safetensors(folder / f"foreign_{name}.safetensors", answer(name)[1], metadata)


def write_files(folder):
    """Writes what people have: a .pt of guided-diffusion, and a pipeline's folder with a .bin."""
    torch.save(answer("adm_classes")[0], folder / "adm_classes.pt")
    torch.save({"step": 3, "ema": answer("adm_ffhq")[0]}, folder / "adm_ffhq.pt", _use_new_zipfile_serialization=False)
    for part in ["unet", "scheduler"]:
        (folder / "pipeline" / part).mkdir(parents=True)
    torch.save(answer("unet2d_old")[0], folder / "pipeline/unet/diffusion_pytorch_model.bin")
    (folder / "pipeline/unet/config.json").write_text(public(CASES["unet2d_old"][0]))
    (folder / "pipeline/scheduler/scheduler_config.json").write_text(public(CASES["unet2d_old"][2]))
    (folder / "pipeline/model_index.json").write_text("{}")


def compare_with_diffusers():
    import diffusers

    for name in [name for name in CASES if name.startswith("unet2d")]:
        config, _, process = CASES[name]
        network = diffusers.UNet2DModel.from_config(json.loads(public(config))).double()
        state, tensors = answer(name)
        if name == "unet2d_old":  # the package renames them as it reads a file
            for old, new in [("query", "to_q"), ("key", "to_k"), ("value", "to_v"), ("proj_attn", "to_out.0")]:
                state = {key.replace(f".{old}.", f".{new}."): value for key, value in state.items()}
        network.load_state_dict({key: value.double() for key, value in state.items()})
        scheduler = diffusers.DDPMScheduler.from_config(process)
        power = scheduler.alphas_cumprod[torch.tensor([3, 400, 700])].double()
        x_t = tensors["x"] * power.sqrt()[:, None, None, None]
        labels = torch.tensor([1, 0, 3]) if config["num_class_embeds"] else None
        with torch.no_grad():
            out = network(x_t, torch.tensor([3, 400, 700]), class_labels=labels).sample
        mean = denoised(out, x_t, power.numpy(), process["prediction_type"])
        error = (mean - tensors["D"]).norm() / tensors["D"].norm()
        print(f"{name}: relative difference to diffusers {diffusers.__version__}: {error:.1e}")
        assert error < 1e-5


def compare_with_original(folder):
    # The program's MPI and file system are not used by its network.
    sys.modules.update(mpi4py=types.ModuleType("mpi4py"), blobfile=types.ModuleType("blobfile"))
    sys.path.insert(0, str(folder))
    from guided_diffusion.gaussian_diffusion import get_named_beta_schedule
    from guided_diffusion.unet import UNetModel

    for name in [name for name in CASES if name.startswith("adm")]:
        config, _, (schedule, steps) = CASES[name]
        network = UNetModel(
            image_size=16, in_channels=3, model_channels=config["width"], out_channels=6 if config["variance"] else 3,
            num_res_blocks=config["blocks"], attention_resolutions=[2**level for level in config["attention"]],
            channel_mult=config["mult"], num_classes=config["classes"] or None, num_heads=config.get("heads") or 1,
            num_head_channels=config["head_channels"] or -1, use_scale_shift_norm=config["scale_shift"],
            resblock_updown=config["updown"], use_new_attention_order=config["order"] == "new").eval()
        state, tensors = answer(name)
        network.load_state_dict(state)
        power = np.cumprod(1 - get_named_beta_schedule(schedule, steps))
        t = np.array([3, 400, 700]) * (steps // 1000)
        x_t = tensors["x"] * torch.tensor(power[t]).sqrt()[:, None, None, None]
        labels = torch.tensor([1, 0, 3]) if config["classes"] else None
        with torch.no_grad():
            out = network(x_t.float(), torch.tensor(t) * (1000 / steps), labels).double()
        error = (denoised(out, x_t, power[t], "epsilon") - tensors["D"]).norm() / tensors["D"].norm()
        print(f"{name}: relative difference to guided-diffusion: {error:.1e}")
        assert error < 1e-5


def compare_published(name, program):
    config, schedule = PUBLISHED[name]
    state = weights(shapes_of(adm, config, 64))
    power = powers(schedule, 1000)[400]
    x_t = torch.randn((1, 3, 64, 64), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        out = adm(lambda key, shape: state[key], x_t, torch.tensor([400.0]), torch.tensor([7]), config)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        torch.save(state, folder / f"{name}.pt")
        np.save(folder / "x.npy", (x_t / power**0.5).numpy())
        labels = ["--labels", "7"] if config["classes"] else []
        subprocess.run([program, "denoise", folder / f"{name}.pt", folder / "x.npy", folder / "D.npy", "--sigma",
                        repr(float((1 / power - 1) ** 0.5)), *labels], check=True)
        mean = torch.tensor(np.load(folder / "D.npy"))
    wanted = denoised(out, x_t, np.array([power]), "epsilon")
    error = (mean - wanted).norm() / wanted.norm()
    print(f"{name}: {sum(tensor.numel() for tensor in state.values())} parameters, relative difference {error:.1e}")
    assert error < 1e-5


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixtures", type=pathlib.Path)
    parser.add_argument("--files", type=pathlib.Path)
    parser.add_argument("--diffusers", action="store_true")
    parser.add_argument("--original", type=pathlib.Path)
    parser.add_argument("--published", nargs=2)
    options = parser.parse_args()
    if options.fixtures:
        write_fixtures(options.fixtures)
    if options.files:
        write_files(options.files)
    if options.diffusers:
        compare_with_diffusers()
    if options.original:
        compare_with_original(options.original)
    if options.published:
        compare_published(*options.published)
