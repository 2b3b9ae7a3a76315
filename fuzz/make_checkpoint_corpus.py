#!/usr/bin/env python3
"""Writes the seeds of the fuzzers of checkpoints into fuzz/corpus/<reader>/, the same bytes every time.

Files named good_* must be read, all others refused: tests/io/fuzz_replay_test.cc holds the readers
to it. What a fuzzer finds is added here by hand, under a name that says what is wrong with it.
"""
import json
import pathlib
import pickle
import struct
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


# Pickles, instruction by instruction.
def whole(body):
    return b"\x80\x04" + body + b"."


def text(value):
    encoded = value.encode()
    return b"\x8c" + bytes([len(encoded)]) + encoded


def integer(value):
    return b"J" + struct.pack("<i", value)


def items(*values):
    return b"(" + b"".join(values) + b"t"


def integers(values):
    return items(*map(integer, values))


def dictionary(entries, start=b"}"):
    return start + b"(" + b"".join(text(key) + value for key, value in entries.items()) + b"u"


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def call(function, *arguments):
    return function + items(*arguments) + b"R"


def ordered(entries):
    return dictionary(entries, call(name("collections", "OrderedDict")))


def instance(cls, attributes):
    return cls + b")\x81" + attributes + b"b"


def pickle_files():
    data = {"a": [1, -2, 1 << 40, 1 << 80, 2.5, True, None], "b": ("x", b"yy", {3}), "c": {"d": "caf\u00e9"}}
    shared = b"]q\0" + b"".join(b"](" + b"h" + bytes([i]) + b"h" + bytes([i]) + b"eq" + bytes([i + 1]) for i in range(99))
    files = {f"good_protocol_{protocol}": pickle.dumps(data, protocol) for protocol in range(6)}
    return files | {
        "good_state_dict": whole(ordered({"w": integer(1)}) + dictionary({"_metadata": b"N"}) + b"b"),
        "good_hostile_call": whole(call(name("os", "system"), text("touch hostile"))),
        "good_hostile_stack_global": whole(text("builtins") + text("eval") + b"\x93" + items(text("1")) + b"R"),
        "good_old_classes": b"(I1\nimod\nName\np0\n(cmod\nName\nK\1ob.",
        "good_new_object_ex": whole(name("m", "C") + b")}\x92" + b"\x8f(" + integer(1) + b"\x90b"),
        "good_persistent": b"(Pkey\nU\1kQ(K\1K\2\x91t.",
        "good_text": b"(S'it\\'s \\x41'\nVcaf\\u00e9 \\U0001f600\nL-123L\nI01\nF1e300\nt.",
        "good_contains_itself": b"}q\0(U\4selfh\0U\1xK\1u.",
        "good_shared": shared + b".",
        "good_nested": b"]" * 5000 + b"a" * 4999 + b".",
        "good_not_utf8": b"(U\2\xff\xfeU\1a}U\1\x80K\1st.",
        "length_of_text": b"X\xff\xff\xff\xff.",
        "length_of_bytes": b"\x8e" + b"\xff" * 8 + b".",
        "length_of_frame": b"\x80\4\x95" + b"\xff" * 8 + b"N.",
        "digits": b"I" + b"9" * 1001 + b"\n.",
        "no_mark": b"t.",
        "no_value": b".",
        "no_memo_entry": b"h\0.",
        "across_a_mark": b"](K\1(a.",
        "key_without_value": b"}(K\1u.",
        "append_to_number": b"K\1K\2a.",
        "second_state": whole(instance(name("m", "C"), b"}") + b"}b"),
        "buffer": b"\x80\5\x97.",
        "extension": b"\x82\1.",
        "unknown_instruction": b"\xff.",
        "line_break_in_number": b"I1\r\x1b\n.",
    }


# ZIP archives, field by field.
def common(file_name, content, method, packed, flags):
    sums = struct.pack("<III", zlib.crc32(content), len(packed), len(content))
    return struct.pack("<HHHI", 20, flags, method, 0) + sums + struct.pack("<HH", len(file_name), 0)


def local(file_name, content, method=0, packed=None, flags=0):
    packed = content if packed is None else packed
    return b"PK\3\4" + common(file_name, content, method, packed, flags) + file_name + packed


def listed(offset, file_name, content, method=0, packed=None, flags=0):
    packed = content if packed is None else packed
    return (b"PK\1\2\x14\0" + common(file_name, content, method, packed, flags) + bytes(10)
            + struct.pack("<I", offset) + file_name)


def end(entries, size, offset, comment=b""):
    return b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, entries, entries, size, offset, len(comment)) + comment


def archive(*files, comment=b""):
    data = directory = b""
    for file in files:
        directory += listed(len(data), *file)
        data += local(*file)
    return data + directory + end(len(files), len(directory), len(data), comment)


def archive64(size=5, offset=0):
    data = local(b"x", b"hello")
    entry = bytearray(listed(0xFFFFFFFF, b"x", b"hello"))
    entry[20:28] = b"\xff" * 8
    entry[30:32] = struct.pack("<H", 28)
    entry += struct.pack("<HHQQQ", 1, 24, size, size, offset)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(entry), len(data))
    locator = b"PK\6\7" + struct.pack("<IQI", 0, len(data) + len(entry), 1)
    return data + bytes(entry) + record + locator + end(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)


def deflated(content):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_FIXED)
    return packer.compress(content) + packer.flush()


def zip_files():
    x, words = (b"x", b"hello"), b"to be or not to be, to be or not to be"
    one = archive(x)
    inner = local(b"inner", b"hello")
    outer = local(b"outer", inner)
    nested = listed(0, b"outer", inner) + listed(len(outer) - len(inner), b"inner", b"hello")
    directory = listed(0, *x)
    return {
        "good_stored": archive(x, (b"a/b", b"")),
        "good_deflated": archive((b"x", words, 8, deflated(words))),
        "good_empty": archive(),
        "good_comment": archive(x, comment=b"PK\5\6"),
        "good_zip64": archive64(),
        "outside_zip64": archive64(1 << 60),
        "offset_zip64": archive64(5, (1 << 64) - 1),
        "overlap": outer + nested + end(2, len(nested), len(outer)),
        "twice": local(*x) + directory * 2 + end(2, 2 * len(directory), len(local(*x))),
        "too_many_entries": local(*x) + directory + end(60000, len(directory), len(local(*x))),
        "directory_outside": local(*x) + directory + end(1, len(directory), 5000),
        "damaged": one.replace(b"hello", b"jello"),
        "declares_too_much": archive((b"x", words, 8, deflated(words))).replace(
            struct.pack("<IH", len(words), 1), struct.pack("<IH", 0xF0000000, 1)),
        "not_deflated": archive((b"x", words, 8, b"\xff" * 9)),
        "declares_less": archive((b"x", b"short", 8, deflated(words))),
        "other_method": archive((b"x", b"hello", 12, b"BZh")),
        "encrypted": archive((b"x", b"hello", 0, None, 1)),
        "line_break_in_name": archive((b"\n\x1b[2J" + b"x" * 1000, b"hello", 12, b"?")),
        "truncated": one[:-1],
    }


# Torch checkpoints.
def storage(kind, key, elements):
    return items(text("storage"), name("torch", kind), text(key), text("cpu"), integer(elements)) + b"Q"


def tensor(base, offset=0, size=(2,), stride=(1,)):
    return call(name("torch._utils", "_rebuild_tensor_v2"), base, integer(offset), integers(size), integers(stride),
                b"\x89", ordered({}))


def parameter(value):
    return call(name("torch._utils", "_rebuild_parameter"), value, b"\x88", ordered({}))


def legacy(body, storages):
    magic = whole(b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")
    machine = whole(dictionary({"little_endian": b"\x88"}))
    keys = whole(b"](" + b"".join(text(key) for key in storages) + b"e")
    data = b"".join(struct.pack("<Q", elements) + content for elements, content in storages.values())
    return magic + whole(integer(1001)) + machine + whole(body) + keys + data


def inner(kind="FloatStorage", elements=2, data=bytes(8)):
    stream = legacy(storage(kind, "9", elements), {"9": (elements, data)})
    return call(name("torch.storage", "_load_from_bytes"), b"B" + struct.pack("<I", len(stream)) + stream)


def module(parameters, buffers, modules, **attributes):
    state = dict(_parameters=ordered(parameters), _buffers=ordered(buffers), _modules=ordered(modules),
                 _non_persistent_buffers_set=b"\x8f(" + text("scratch") + b"\x90")
    return dictionary(state | attributes)


def persistent(cls, state):
    record = dictionary(dict(module_src=text("import os"), class_name=text(cls), state=state))
    return call(name("torch_utils.persistence", "_reconstruct_persistent_obj"), record)


def torch_zip(body, storages, order=b"little"):
    files = [(b"a/data.pkl", whole(body)), (b"a/byteorder", order)]
    return archive(*files, *((b"a/data/" + key.encode(), data) for key, data in storages.items()))


def doubling(body):
    """Sixty dicts, each of which holds the one before twice."""
    body += b"q\0"
    for i in range(60):
        body += b"}(" + text("a") + b"h" + bytes([i]) + text("b") + b"h" + bytes([i]) + b"uq" + bytes([i + 1])
    return body


def torch_file_files():
    layer = module({"weight": parameter(tensor(inner())), "bias": b"N"}, {"scratch": tensor(inner())}, {})
    blocks = instance(name("torch.nn", "ModuleDict"), module({}, {}, {"8x8": persistent("Conv2d", layer)}))
    inside = module({}, {}, {"enc": blocks}, _init_kwargs=dictionary({"dropout": b"G?\xb9\x99\x99\x99\x99\x99\x9a"}))
    snapshot = dictionary({"ema": persistent("EDMPrecond", module({}, {}, {"model": persistent("SongUNet", inside)},
                                                                  sigma_data=b"G?\xe0\0\0\0\0\0\0"))})
    two = {"0": bytes(8)}
    floats = storage("FloatStorage", "0", 2)
    untyped = items(text("storage"), name("torch.storage", "UntypedStorage"), text("0"), text("cpu"), integer(8)) + b"Q"
    typed = call(name("torch._utils", "_rebuild_tensor_v3"), untyped, integer(0), integers([1]), integers([1]), b"\x89",
                 ordered({}), name("torch", "float64"), b"}")
    part = items(text("storage"), name("torch", "FloatStorage"), text("0"), text("cpu"), integer(2),
                 items(text("1"), integer(1), integer(1))) + b"Q"
    again = name("torch._tensor", "_rebuild_from_type_v2")
    encoded = call(name("_codecs", "encode"), text("\u00e9"), text("latin1"))
    return {
        "good_snapshot": whole(snapshot),
        "good_zip": torch_zip(ordered({"w": tensor(floats)}) + dictionary({"_metadata": b"N"}) + b"b", two),
        "good_zip_nested": torch_zip(dictionary({"net": dictionary({"w": tensor(floats)}), "epoch": integer(1),
                                                 "list": b"](" + tensor(floats) + b"e"}), two),
        "good_zip_untyped": torch_zip(dictionary({"w": typed, "b": tensor(untyped)}), two),
        "good_zip_views": torch_zip(dictionary({"t": tensor(floats, 0, (2, 1), (1, 2)), "e": tensor(floats, 0, (0, 3), (3, 1)),
                                                "s": tensor(floats, 1, (), ()), "r": tensor(floats, 0, (9,), (0,))}), two),
        "good_legacy": legacy(dictionary({"w": tensor(floats)}), {"0": (2, bytes(8))}),
        "good_legacy_part": legacy(dictionary({"w": tensor(part, 0, (1,))}), {"0": (2, bytes(8))}),
        "good_legacy_bool": legacy(dictionary({"w": tensor(storage("BoolStorage", "0", 2))}), {"0": (2, b"\0\7")}),
        "good_tensor": whole(tensor(inner())),
        "view_outside": torch_zip(dictionary({"w": tensor(floats, 1)}), two),
        "view_of_terabytes": torch_zip(dictionary({"w": tensor(floats, 0, (1 << 30, 1 << 30), (0, 0))}), two),
        "strides_beyond_64_bits": torch_zip(dictionary({"w": tensor(floats, 0, (2147483647,) * 3, (2147483647,) * 3)}), two),
        "storage_missing": torch_zip(dictionary({"w": tensor(floats)}), {}),
        "storage_too_small": torch_zip(dictionary({"w": tensor(floats)}), {"0": bytes(7)}),
        "storage_too_small_inside": whole(dictionary({"w": tensor(inner(elements=1 << 20))})),
        "storage_of_complex": torch_zip(dictionary({"w": tensor(storage("ComplexFloatStorage", "0", 1))}), two),
        "storage_not_a_stream": whole(tensor(call(name("torch.storage", "_load_from_bytes"), encoded))),
        "sparse": torch_zip(dictionary({"w": call(name("torch._utils", "_rebuild_sparse_tensor"), b"N")}), two),
        "wrapped_for_ever": whole(call(again, again, b"N", b"]q\1(" + again + b"Nh\1e")),
        "shared": torch_zip(doubling(tensor(floats)), two),
        "shared_without_tensors": torch_zip(doubling(b"]"), two),
        "big_endian": torch_zip(dictionary({"w": tensor(floats)}), two, b"big"),
        "no_tensors": whole(dictionary({"epoch": integer(1)})),
        "no_pickle": archive((b"00000/img.png", b"x")),
        "line_break_in_name": torch_zip(dictionary({"\n\x1b": tensor(floats, 1)}), two),
        "web_page": b"<!DOCTYPE html>",
    }


def diffusers_files():
    """One text is the configuration of the network and of the scheduler."""
    ddpm = {"_class_name": "UNet2DModel", "attention_head_dim": None, "block_out_channels": [32, 64],
            "down_block_types": ["DownBlock2D", "AttnDownBlock2D"], "in_channels": 3, "layers_per_block": 2,
            "out_channels": 3, "sample_size": 16, "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
            "beta_schedule": "linear"}
    both = lambda **fields: json.dumps({**ddpm, **fields}).encode()
    return {
        "good_ddpm": both(),
        "good_null": both(norm_eps=None, act_fn=None, num_class_embeds=None, trained_betas=None),
        "good_v": both(prediction_type="v_prediction", beta_schedule="scaled_linear", attention_head_dim=8),
        "good_table": both(trained_betas=[0.1, 0.2], num_train_timesteps=2),
        "good_sides": both(sample_size=[16, 16], downsample_padding=0),
        "good_cosine": both(beta_schedule="squaredcos_cap_v2", prediction_type="sample"),
        "no_json": b"{",
        "a_list": b"[]",
        "no_levels": both(block_out_channels=[], down_block_types=[], up_block_types=[]),
        "width_of_exabytes": both(block_out_channels=[1 << 62, 1 << 62]),
        "width_negative": both(block_out_channels=[-32, 64]),
        "levels_beyond_the_image": both(block_out_channels=[32] * 12, down_block_types=["DownBlock2D"] * 12,
                                        up_block_types=["UpBlock2D"] * 12),
        "blocks_of_exabytes": both(layers_per_block=1 << 62),
        "steps_of_exabytes": both(num_train_timesteps=1 << 62),
        "rates_above_one": both(beta_end=2),
        "rates_are_words": both(trained_betas=["\n"]),
        "schedule_with_line_break": both(beta_schedule="\n\x1b"),
        "type_with_line_break": both(down_block_types=["\n", "DownBlock2D"]),
        "head_of_nothing": both(attention_head_dim=0),
        "groups_negative": both(norm_num_groups=-1),
        "side_negative": both(sample_size=-16),
        "other_class": both(_class_name="UNet2DConditionModel"),
        "no_rates": both(beta_schedule=None),
    }


def main():
    makers = {"pickle": pickle_files, "zip": zip_files, "torch_file": torch_file_files, "diffusers": diffusers_files}
    for reader, make in makers.items():
        folder = CORPUS / reader
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, content in make().items():
            (folder / file_name).write_bytes(content)


if __name__ == "__main__":
    main()
