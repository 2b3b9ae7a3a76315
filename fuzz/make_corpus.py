#!/usr/bin/env python3
"""Writes the seeds of the fuzzers into fuzz/corpus/<reader>/, the same bytes every time.

Files named good_* must be read, all others refused: tests/io/fuzz_replay_test.cc holds the readers
to it. What a fuzzer finds is added here by hand, under a name that says what is wrong with it.
"""
import io
import json
import pathlib
import struct
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


def npy(descr="<f4", shape=(2,), data=bytes(8), fortran=False, version=1, header=None):
    text = header or f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def npy_files():
    return {
        "good_f4": npy(),
        "good_big_endian": npy(">f8", (1,), bytes(8)),
        "good_fortran": npy("<i2", (2, 3), bytes(range(12)), fortran=True),
        "good_complex": npy("<c8", (2, 1), bytes(16), fortran=True),
        "good_scalar": npy("|b1", (), b"\2"),
        "good_empty": npy("<f2", (3, 0, 2), b""),
        "good_u2_version_2": npy("<u2", (2,), b"\xff\xff\0\0", version=2),
        "good_u8_version_3": npy("<u8", (1,), bytes(8), version=3),
        "u8_too_large": npy("<u8", (1,), b"\xff" * 8),
        "complex_too_short": npy("<c16", (1,), bytes(8)),
        "truncated": npy(data=bytes(7)),
        "trailing": npy(data=bytes(9)),
        "overflow": npy(shape=(1 << 32, 1 << 32)),
        "overflow_times_zero": npy(shape=(0, 1 << 40, 1 << 40), data=b""),
        "negative": npy(shape=(-1, -2)),
        "structured": npy(header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"),
        "object": npy("|O", (), b""),
        "line_break_in_dtype": npy(header="{'descr': '\n\x1b', 'fortran_order': False, 'shape': ()}"),
        "line_break_in_key": npy(header="{'a\n': 1}"),
        "long_dtype": npy("x" * 1000, (), b""),
        "header_not_ending": npy(header="{'descr': '<f4', 'shape': (2,"),
        "header_behind_file": npy()[:20],
    }


def npz(**arrays):
    """An .npz file as scipy.sparse.save_npz writes it, of a 2 x 3 matrix; None leaves an array out."""
    parts = {
        "indices": npy("<i4", (2,), struct.pack("<2i", 2, 0)),
        "indptr": npy("<i4", (3,), struct.pack("<3i", 0, 1, 2)),
        "format": npy("|S3", (), b"csr"),
        "shape": npy("<i8", (2,), struct.pack("<2q", 2, 3)),
        "data": npy("<f8", (2,), struct.pack("<2d", 1, -2)),
        **arrays,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            if content is not None:
                archive.writestr(zipfile.ZipInfo(name + ".npy"), content)
    return file.getvalue()


def sparse_npz_files():
    def ints(*values, kind="<i8"):
        return npy(kind, (len(values),), struct.pack(f"<{len(values)}{'q' if kind == '<i8' else 'i'}", *values))

    coo = {"format": npy("|S3", (), b"coo"), "indices": None, "indptr": None}
    nan = npy("<f8", (2,), struct.pack("<2d", 1, float("nan")))
    return {
        "good_csr": npz(),
        "good_csc": npz(format=npy("|S3", (), b"csc"), indices=ints(1, 0), indptr=ints(0, 1, 1, 2)),
        "good_coo": npz(**coo, row=ints(1, 1), col=ints(2, 2)),
        "good_wide_word": npz(format=npy("<U3", (), "csr".encode("utf-32-le"))),
        "good_integers": npz(data=ints(1, 2)),
        "good_empty": npz(indices=ints(), indptr=ints(0, 0, 0), data=ints()),
        "bsr": npz(format=npy("|S3", (), b"bsr")),
        "format_of_two": npz(format=npy("|S3", (2,), b"csrcsr")),
        "format_escapes": npz(format=npy("|S3", (), b"\n\x1b\xff")),
        "format_missing": npz(format=None),
        "data_missing": npz(data=None),
        "data_complex": npz(data=npy("<c8", (1,), bytes(8))),
        "data_not_finite": npz(data=nan),
        "data_shorter": npz(data=npy("<f8", (1,), bytes(8))),
        "index_behind": npz(indices=ints(3, 0)),
        "index_negative": npz(indices=ints(-1, 0)),
        "index_real": npz(indices=npy("<f4", (2,), bytes(8))),
        "indices_longer": npz(indices=ints(0, 1, 2)),
        "pointers_falling": npz(indptr=ints(0, 3, 2)),
        "pointers_too_few": npz(indptr=ints(0, 2)),
        "row_behind": npz(**coo, row=ints(2, 0), col=ints(0, 0)),
        "rows_shorter": npz(**coo, row=ints(1), col=ints(0, 0)),
        "shape_of_three": npz(shape=ints(2, 3, 1)),
        "shape_negative": npz(shape=ints(-2, 3)),
        "shape_of_terabytes": npz(shape=ints(1 << 40, 3)),
        "shape_zero": npz(shape=ints(0, 3), indptr=ints(0)),
        "not_a_zip": npy(),
    }


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_files():
    sizes = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
    every, end = {}, 0
    for dtype, size in sizes.items():
        every[dtype] = entry(dtype, [3], end, end + 3 * size)
        end += 3 * size
    two = {"a": entry("F32", [2], 0, 8), "b": entry("U8", [], 8, 9)}
    twice = b'{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8"}}'
    return {
        "good_every_dtype": safetensors(every, bytes(end)),
        "good_metadata": safetensors({"__metadata__": {"format": "pt"}, **two}, bytes(9)),
        "good_padded": safetensors(json.dumps(two).encode() + b"    ", bytes(9)),
        "good_none": safetensors({}),
        "good_empty_tensor": safetensors({"a": entry("F32", [0, 5], 0, 0)}),
        "duplicate_name": safetensors(twice, b"x"),
        "gap": safetensors({"a": entry("U8", [1], 1, 2)}, b"xx"),
        "overlap": safetensors({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, b"xxx"),
        "trailing": safetensors(two, bytes(10)),
        "truncated": safetensors(two, bytes(8)),
        "overflow": safetensors({"a": entry("F64", [1 << 32, 1 << 32], 0, 8)}, bytes(8)),
        "negative": safetensors({"a": entry("U8", [-1], 0, 1)}, b"x"),
        "not_utf8": safetensors(b'{"\xff":1}'),
        "line_break_in_name": safetensors({"a\n\u001b[31m\u2028": entry("U8", [1], 0, 2)}, b"xx"),
        "line_break_in_dtype": safetensors({"a": entry("U\n", [1], 0, 1)}, b"x"),
        "line_break_in_shape": safetensors({"a": entry("U8", ["\n\u2028"], 0, 1)}, b"x"),
        "line_break_twice": safetensors(b'{"a\\n":1,"a\\n":1}'),
        "line_break_in_metadata": safetensors({"__metadata__": {"a\n": 1}}),
        "long_name": safetensors({"a" * 1000: 1}),
        "nested": safetensors(b'{"a":' + b"[" * 100 + b"]" * 100 + b"}"),
        "unknown_dtype": safetensors({"a": entry("F8_E4M3", [1], 0, 1)}, b"x"),
        "header_behind_file": safetensors(two, bytes(9))[:40],
    }


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def exif(order="<", entries=((0x0112, 3, 1, 6),), second=b"", offset=8):
    """An EXIF record: a header, a directory of (tag, type, count, value), and what the next one is."""

    def number(form, *values):
        return struct.pack(order + form, *values)

    def entry(tag, kind, count, value):
        return number("HHI", tag, kind, count) + (number("HH", value, 0) if kind == 3 else number("I", value))

    header = (b"II" if order == "<" else b"MM") + number("HI", 42, offset)
    behind = 8 + 2 + 12 * len(entries) + 4
    directory = number("H", len(entries)) + b"".join(entry(*e) for e in entries)
    return header + directory + number("I", behind if second else 0) + second


def thumbnail(content, at=56):
    """A second directory, at byte 26 of a record whose first one has an entry, and its JPEG."""
    return struct.pack("<HHHIIHHIII", 2, 0x0201, 4, 1, at, 0x0202, 4, 1, len(content), 0) + content


def exif_files():
    good = exif()
    return {
        "good_little_endian": good,
        "good_big_endian": exif(">", ((0x010F, 2, 4, 0x45505300), (0x0112, 3, 1, 8))),
        "good_no_entries": exif(entries=()),
        "good_no_next": good[:-4],
        "good_orientation_of_no_sort": exif(entries=((0x0112, 4, 9, 77), (0x0112, 3, 1, 3))),
        "good_second_outside": exif(second=b"\xff\xff"),
        "good_thumbnail": exif(second=thumbnail(b"\xff\xd8\xff\xd9")),
        "good_thumbnail_not_last": exif(second=thumbnail(b"\xff\xd8\xff\xd9") + b"maker"),
        "good_thumbnail_is_the_record": exif(second=thumbnail(b"\xff\xd8\xff\xd9", at=0)),
        "good_thumbnail_outside": exif(second=thumbnail(b"", at=0xFFFFFFFF)),
        "directory_cut": good[:-5],
        "directory_in_header": exif(offset=4),
        "directory_outside": exif(offset=0xFFFFFFF0),
        "entries_outside": good[:8] + b"\xff\xff" + good[10:],
        "header_cut": good[:7],
        "no_tiff": b"II" + good[3:],
        "empty": b"",
    }


def icc(space=b"RGB ", size=132):
    """An ICC profile without tags."""
    head = struct.pack(">I4sI4s4s4s12s4s", size, b"", 0x04300000, b"mntr", space, b"XYZ ", b"", b"acsp")
    white = struct.pack(">III", 0xF6D6, 0x10000, 0xD32D)
    return (head.ljust(68, b"\0") + white).ljust(size, b"\0")


def png(width, height, bits, colour, rows, extra=b"", interlace=0, behind=b""):
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlace)
    data = chunk(b"IDAT", zlib.compress(rows, 9))
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    return start + extra + data + behind + chunk(b"IEND", b"")


def png_files():
    palette = chunk(b"PLTE", bytes([1, 2, 3, 250, 251, 252]))
    grey = png(4, 4, 8, 0, bytes(20))
    broken = bytearray(grey)
    broken[-18] ^= 1
    profile = b"Display P3\0\0" + zlib.compress(icc(), 9)
    colours = chunk(b"cHRM", bytes(range(32))) + chunk(b"gAMA", b"\0\0\xb1\x8f") + chunk(b"sRGB", b"\0")

    def pixel(extra, **more):
        return png(1, 1, 8, 2, b"\0\1\2\3", extra, **more)

    return {
        "good_grey": grey,
        "good_grey_1_bit": png(9, 3, 1, 0, bytes(9)),
        "good_grey_16_bits": png(3, 2, 16, 0, bytes(range(14)).replace(b"\7", b"\0")),
        "good_grey_alpha": png(2, 2, 8, 4, bytes(10)),
        "good_rgb_filters": png(3, 5, 8, 2, b"".join(bytes([f]) + bytes(range(9)) for f in range(5))),
        "good_rgba_16_bits": png(2, 2, 16, 6, bytes(34)),
        "good_palette": png(5, 2, 1, 3, b"\0\xa8\0\x50", palette + chunk(b"tRNS", b"\0")),
        "good_interlaced": png(8, 8, 8, 0, bytes(79), interlace=1),
        "good_text": png(1, 1, 8, 0, b"\0\5", chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(5000)))),
        "good_animation": pixel(chunk(b"acTL", b"\0\0\0\2\0\0\0\0")),
        "good_colours": pixel(colours),
        "good_exif": png(3, 2, 8, 0, bytes(range(8)).replace(b"\4", b"\0"), chunk(b"eXIf", exif())),
        "good_exif_behind": pixel(b"", behind=chunk(b"eXIf", exif(">", ((0x0112, 3, 1, 3),)))),
        "good_exif_broken": pixel(chunk(b"eXIf", exif(offset=0xFFFFFFF0))),
        "good_grey_16_bits_transparent": png(1, 2, 16, 0, bytes(6), chunk(b"tRNS", b"\1\0")),
        "good_profile": pixel(chunk(b"iCCP", profile)),
        "good_profile_broken": pixel(chunk(b"iCCP", profile[:-9])),
        "good_profile_of_5_mb": pixel(chunk(b"iCCP", b"a\0\0" + zlib.compress(icc(size=5 << 20), 9))),
        "good_rgb_16_bits_interlaced": png(2, 1, 16, 2, bytes(14), interlace=1),
        "exif_of_gigabytes": pixel(b"\x7f\xff\xff\xffeXIf" + exif()),
        "profile_of_gigabytes": pixel(b"\x7f\xff\xff\xffiCCP" + profile),
        "rows_of_16_bits_missing": png(2, 2, 16, 2, bytes(20)),
        "palette_missing": png(5, 2, 1, 3, b"\0\xa8\0\x50"),
        "too_many_pixels": png(1 << 30, 1 << 30, 8, 0, b"\0"),
        "more_than_the_file": png(8000, 8000, 1, 0, b"\0"),
        "rows_missing": png(4, 4, 8, 0, bytes(10)),
        "wrong_checksum": bytes(broken),
        "truncated": grey[:-10],
        "no_size": png(0, 4, 8, 0, b""),
    }


def segment(marker, content):
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def jpeg(scans, size=(8, 8), components=1, frame=0xC0, sampling=0x11, extra=b"", end=b"\xff\xd9"):
    """DC categories 0 and 7 have the codes 0 and 10, the AC end-of-block has the code 0."""
    parts = b"".join(bytes([i + 1, sampling if i == 0 else 0x11, 0]) for i in range(components))
    header = struct.pack(">BHHB", 8, size[1], size[0], components) + parts
    tables = segment(0xC4, b"\0\1\1" + bytes(14) + b"\0\7") + segment(0xC4, b"\x10\1" + bytes(15) + b"\0")
    quantisation = segment(0xDB, b"\0" + b"\x08" * 64)
    return b"\xff\xd8" + extra + quantisation + segment(frame, header) + tables + b"".join(scans) + end


def scan(data, components=1, first=0, last=63, high=0, low=0):
    parts = b"".join(bytes([i + 1, 0]) for i in range(components))
    return segment(0xDA, bytes([components]) + parts + bytes([first, last, high << 4 | low])) + data


def progressive(scans):
    ac = [scan(b"\x7f", first=k, last=k) for k in range(1, scans - 1)]
    return jpeg([scan(b"\x7f", last=0, low=1), scan(b"\x7f", last=0, high=1)] + ac, frame=0xC2)


def profile(number, count, part):
    return segment(0xE2, b"ICC_PROFILE\0" + bytes([number, count]) + part)


def jpeg_files():
    grey = jpeg([scan(b"\xa4\x3f")])
    return {
        "good_grey": grey,
        "good_colour": jpeg([scan(b"\x0a\x03", 3)], (5, 3), 3),
        "good_subsampled": jpeg([scan(b"\0\x0f", 3)], (16, 16), 3, sampling=0x22),
        "good_progressive": progressive(6),
        "good_restart": jpeg([scan(b"\x3f\xff\xd0\x3f")], (16, 8), extra=segment(0xDD, b"\0\1")),
        "good_comment": jpeg([scan(b"\x3f")], extra=segment(0xFE, b"hello")),
        "good_exif": jpeg([scan(b"\x3f")], extra=segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0\0\0")),
        "good_exif_turned": jpeg([scan(b"\x3f")], extra=segment(0xE1, b"Exif\0\0" + exif())),
        "good_exif_twice": jpeg([scan(b"\x3f")], extra=segment(0xE1, b"Exif\0\0") * 2),
        "good_profile": jpeg([scan(b"\x3f")], extra=profile(1, 2, icc(b"GRAY")[:99]) + profile(2, 2, icc(b"GRAY")[99:])),
        "good_profile_broken": jpeg([scan(b"\x3f")], extra=profile(1, 2, icc())),
        "good_profile_of_no_number": jpeg([scan(b"\x3f")], extra=segment(0xE2, b"ICC_PROFILE\0")),
        "exif_cut": b"\xff\xd8" + segment(0xE1, b"Exif\0\0" + exif())[:-3],
        "precision_of_12_bits": grey.replace(b"\xff\xc0\0\x0b\x08", b"\xff\xc1\0\x0b\x0c"),
        "profile_longer_than_the_file": b"\xff\xd8\xff\xe2\xff\xff" + icc(),
        "too_many_scans": progressive(65),
        "cmyk": jpeg([scan(b"\0", 4)], components=4),
        "arithmetic": jpeg([scan(b"\0")], frame=0xC9),
        "more_than_the_file": jpeg([scan(b"\x3f")], (65000, 1000)),
        "too_many_pixels": jpeg([scan(b"\x3f")], (65000, 65000)),
        "data_missing": jpeg([scan(b"\x3f")], (64, 64)),
        "end_missing": grey[:-2],
        "no_scan": jpeg([]),
        "tables_missing": grey[:2] + grey[grey.index(b"\xff\xc0") :],
    }


def picture_size_files():
    png_head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0"
    jpeg_head = b"\xff\xd8" + segment(0xE0, b"JFIF\0")
    frame = segment(0xC0, b"\x08\x01\xe0\x02\x80\x03")
    return {
        "good_png": png_head,
        "good_png_of_4_gigapixels": png_head.replace(b"\0\0\x02\x80", b"\xff\xff\xff\xff"),
        "good_jpeg": jpeg_head + frame + bytes(4),
        "good_jpeg_progressive": jpeg_head + b"\xff" * 3 + segment(0xC2, frame[4:]) + bytes(4),
        "png_cut": png_head[:20],
        "png_without_head": png_head.replace(b"IHDR", b"IDAT"),
        "jpeg_without_frame": jpeg_head + segment(0xDA, bytes(8)) + frame + bytes(4),
        "jpeg_cut": (jpeg_head + frame)[:-4],
        "jpeg_with_a_gap": jpeg_head + b"\0" + frame + bytes(4),
        "jpeg_segment_behind_file": b"\xff\xd8\xff\xe0\xff\xff" + frame + bytes(4),
        "empty": b"",
    }


def multipart_files():
    part = lambda head, content=b"1": b"--b\r\n" + head + b"\r\n\r\n" + content + b"\r\n"
    named = lambda name, file="": part(f'Content-Disposition: form-data; name="{name}"{file}'.encode())
    form = lambda *parts, end=b"--b--\r\n", type=b"multipart/form-data; boundary=b\n": type + b"".join(parts) + end
    return {
        "good_field": form(named("x")),
        "good_file": form(named("x", '; filename="../a/b.png"'), named("y")),
        "good_empty": form(),
        "good_like_a_boundary": form(part(b'content-disposition: form-data; name="x"', b"\r\n--c\r\n--")),
        "no_boundary": form(named("x"), type=b"multipart/form-data\n"),
        "other_type": form(named("x"), type=b"text/plain; boundary=b\n"),
        "no_end": form(named("x"), end=b""),
        "no_name": form(part(b"A: b")),
        "twice": form(named("x"), named("x")),
        "no_form_data": form(part(b'Content-Disposition: attachment; name="x"')),
        "name_not_ending": form(part(b'Content-Disposition: form-data; name="x')),
        "many": form(*(named(str(k)) for k in range(20))),
        "head_not_ending": form(b"--b\r\n" + b"a" * 5000),
    }


def request_head_files():
    key = "Host: localhost\r\nX-Eps-Token: 0123456789abcdef\r\n"
    head = lambda line, fields=key: f"{line}\r\n{fields}\r\n".encode("latin-1")
    return {
        "good_page": head("GET / HTTP/1.1", "Host: 127.0.0.1:8080\r\n"),
        "good_status": head("GET /v1/status HTTP/1.1"),
        "good_query": head("GET /v1/restorations/1/events?token=0123456789abcdef&x=%41 HTTP/1.1", "Host: [::1]\r\n"),
        "good_post": head("POST /v1/restorations HTTP/1.0", key + "Content-Length: 7\r\nExpect: 100-continue\r\n"),
        "no_token": head("GET /v1/status HTTP/1.1", "Host: localhost\r\n"),
        "other_host": head("GET / HTTP/1.1", "Host: evil.example\r\n"),
        "other_origin": head("GET / HTTP/1.1", key + "Origin: http://evil.example\r\n"),
        "traversal": head("GET /page/%2e%2e/%2e%2e/etc/passwd HTTP/1.1"),
        "chunked": head("POST /v1/restorations HTTP/1.1", key + "Transfer-Encoding: chunked\r\n"),
        "two_lengths": head("POST /v1/x HTTP/1.1", key + "Content-Length: 1\r\nContent-Length: 2\r\n"),
        "too_large": head("POST /v1/restorations HTTP/1.1", key + "Content-Length: 1001\r\n"),
        "range": head("GET / HTTP/1.1", key + "Range: bytes=0-1,0-1\r\n"),
        "folded": head("GET / HTTP/1.1", key + "A: b\r\n c\r\n"),
        "zero": head("GET /%00 HTTP/1.1"),
        "method": head("TRACE / HTTP/1.1"),
        "not_ending": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    }


def main():
    makers = {
        "exif": exif_files,
        "jpeg": jpeg_files,
        "multipart": multipart_files,
        "npy": npy_files,
        "picture_size": picture_size_files,
        "png": png_files,
        "request_head": request_head_files,
        "safetensors": safetensors_files,
        "sparse_npz": sparse_npz_files,
    }
    for reader, make in makers.items():
        folder = CORPUS / reader
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in make().items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
