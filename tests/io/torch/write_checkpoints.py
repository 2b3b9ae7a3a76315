#!/usr/bin/env python3
"""Writes small checkpoints with torch itself into a folder, and what they hold as expected.json.

Networks in .safetensors files that are there already are written again as EDM's snapshots, .pkl."""
import collections
import json
import pathlib
import pickle
import sys
import types

import torch

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


def reconstruct(record):
    raise RuntimeError("never called: these files are only written")


def persistent(cls):
    """Makes instances reduce to a record of their class, source text and state, as EDM's do."""

    def reduce(self):
        state = {**self.__dict__, "_init_args": (), "_init_kwargs": self.init_kwargs}
        del state["init_kwargs"]
        record = dict(type="class", version=6, module_src=SOURCE, class_name=cls.__name__, state=state)
        return reconstruct, (record,)

    cls.__reduce__ = reduce
    return cls


@persistent
class Conv2d(torch.nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.init_kwargs = kwargs
        self.weight = torch.nn.Parameter(torch.randn(4, 3, 3, 3))
        self.bias = None
        self.register_buffer("resample_filter", torch.full([1, 1, 2, 2], 0.25))


@persistent
class SongUNet(torch.nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.init_kwargs = kwargs
        self.enc = torch.nn.ModuleDict({"8x8_conv": Conv2d(kernel=3)})
        self.norm = torch.nn.GroupNorm(1, 4)
        self.map_label = None
        self.register_buffer("scratch", torch.zeros(2), persistent=False)


@persistent
class EDMPrecond(torch.nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.init_kwargs = kwargs
        self.img_resolution = 8
        self.use_fp16 = False
        self.sigma_max = float("inf")
        self.sigma_data = 0.5
        self.model = SongUNet(img_resolution=8, in_channels=3, dropout=0.05)


SOURCE = "raise SystemExit('the source of a snapshot must never run')\n" * 20

CONFIG = dict(class_name="EDMPrecond", model_type="SongUNet", img_resolution=8, in_channels=3, dropout=0.05,
              use_fp16=False, sigma_data=0.5, channel_mult=[1, 2])


def use_name_of_edm():
    """Files must say torch_utils.persistence._reconstruct_persistent_obj."""
    package, module = types.ModuleType("torch_utils"), types.ModuleType("torch_utils.persistence")
    reconstruct.__module__, reconstruct.__qualname__ = "torch_utils.persistence", "_reconstruct_persistent_obj"
    reconstruct.__name__ = "_reconstruct_persistent_obj"
    module._reconstruct_persistent_obj = reconstruct
    package.persistence = module
    sys.modules["torch_utils"], sys.modules["torch_utils.persistence"] = package, module


def described(tensors):
    return {name: dict(dtype=str(tensor.dtype).removeprefix("torch."), shape=list(tensor.shape),
                       values=tensor.double().flatten().tolist()) for name, tensor in tensors.items()}


def plain_tensors():
    tensors = collections.OrderedDict((f"all.{dtype}", (torch.arange(6).reshape(2, 3) - (0 if dtype == "uint8" else 2))
                                       .to(getattr(torch, dtype))) for dtype in DTYPES)
    base = torch.randn(4, 5)
    return tensors | {"base": base, "transposed": base.t(), "part": base[1:3, ::2], "parameter": torch.nn.Parameter(base),
                      "scalar": torch.tensor(3.5), "empty": torch.zeros(0, 7), "expanded": torch.ones(1).expand(3, 3),
                      "tied": base}


def read_network(path):
    """Tensors by name, all float32, and the config of a checkpoint of ours."""
    content = path.read_bytes()
    data = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:data])
    config = json.loads(header.pop("__metadata__")["config"])
    return {name: torch.frombuffer(bytearray(content[data:][slice(*entry["data_offsets"])]), dtype=torch.float32)
            .reshape(entry["shape"]) for name, entry in header.items()}, config


def edm_module(name, tensors, config):
    """A module tree as EDM builds it, from tensors with dotted names; `name` is the module's own."""
    if name in ("enc", "dec"):
        module = torch.nn.ModuleDict()
    else:
        class_name = {"": config["class_name"], "model": config["model_type"]}.get(name, "UNetBlock")
        module = persistent(type(class_name, (torch.nn.Module,), {}))()
        module.init_kwargs = {}
    children = collections.defaultdict(dict)
    for key, tensor in tensors.items():
        child, _, rest = key.partition(".")
        if rest:
            children[child][rest] = tensor
        elif child in ("resample_filter", "freqs"):
            module.register_buffer(child, tensor)
        else:
            module.register_parameter(child, torch.nn.Parameter(tensor))
    for child, inner in children.items():
        module.add_module(child, edm_module(child, inner, config))
    return module


def write_snapshot(path):
    """The network's options are the keyword arguments of both modules, less what each does not take."""
    tensors, config = read_network(path)
    net = edm_module("", tensors, config)
    own = dict(sigma_min=0, sigma_max=float("inf"), **{key: config[key] for key in (
        "img_resolution", "img_channels", "label_dim", "use_fp16", "sigma_data")})
    for key, value in own.items():
        setattr(net, key, value)
    net.init_kwargs = {key: value for key, value in config.items() if key not in (
        "class_name", "in_channels", "out_channels", "sigma_data")}
    net.model.init_kwargs = {key: value for key, value in config.items() if key not in (
        "class_name", "img_channels", "model_type", "use_fp16", "sigma_data")}
    snapshot = dict(ema=net, loss_fn=None, augment_pipe=None, dataset_kwargs=dict(path="x.zip"))
    path.with_suffix(".pkl").write_bytes(pickle.dumps(snapshot))


def main(folder):
    use_name_of_edm()
    torch.manual_seed(1)
    expected = {}

    def write(name, kind, tensors, save, config=None):
        with open(folder / name, "wb") as file:
            save(file)
        expected[name] = dict(kind=kind, config=config or {}, tensors=described(tensors))

    def with_prefix(prefix, tensors):
        return {prefix + name: tensor for name, tensor in tensors.items()}

    tensors = plain_tensors()
    net = EDMPrecond(model_type="SongUNet", channel_mult=[1, 2])
    conv = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3))
    optimizer = torch.optim.Adam(conv.parameters())
    conv(torch.randn(2, 2, 5, 5)).sum().backward()
    optimizer.step()
    moments = {f"optimizer.state.{i}.{key}": value for i, state in optimizer.state_dict()["state"].items()
               for key, value in state.items() if torch.is_tensor(value)}
    training = {"net": conv.state_dict(), "optimizer": {"state": optimizer.state_dict()["state"]}, "epoch": 7,
                "args": types.SimpleNamespace(lr=0.5, name="run")}
    for kind, options in (("torch-zip", {}), ("torch-legacy", dict(_use_new_zipfile_serialization=False))):
        for protocol in (2, 4):
            options = dict(options, pickle_protocol=protocol)
            prefix = f"{kind}-{protocol}-"
            write(prefix + "plain", kind, tensors, lambda file: torch.save(tensors, file, **options))
            write(prefix + "module", kind, conv.state_dict(), lambda file: torch.save(conv, file, **options),
                  dict(class_name="Sequential"))
            write(prefix + "training", kind, with_prefix("net.", conv.state_dict()) | moments,
                  lambda file: torch.save(training, file, **options), dict(epoch=7, args=dict(lr=0.5, name="run")))
            write(prefix + "edm", kind, with_prefix("net.", net.state_dict()),
                  lambda file: torch.save(dict(net=net, optimizer_state={}), file, **options), CONFIG)
    for protocol in (2, 3, 4, 5):
        snapshot = dict(ema=net, loss_fn=None, augment_pipe=None, dataset_kwargs=dict(path="x.zip"))
        write(f"snapshot-{protocol}", "edm-snapshot", net.state_dict(),
              lambda file: pickle.dump(snapshot, file, protocol=protocol), CONFIG)
    (folder / "expected.json").write_text(json.dumps(expected))
    for path in folder.glob("*.safetensors"):
        write_snapshot(path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
