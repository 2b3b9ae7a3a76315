#!/usr/bin/env python3
"""Writes the centres of pictures, as they are, into an archive of PNG files.

    benchmarks/crop_pictures.py PICTURES SIZE OUT.zip [COUNT]

PICTURES is a ZIP archive or a folder; SIZE the side of the squares in pixels; COUNT takes the first so many pictures
by name. Needs python3-pil.
"""
import io
import sys
import zipfile
from pathlib import Path

from PIL import Image, ImageOps

if len(sys.argv) not in (4, 5) or not all(number.isdecimal() for number in [sys.argv[2], *sys.argv[4:]]):
    sys.exit(__doc__.strip())
source, size, out = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
if not source.is_dir() and not (source.is_file() and zipfile.is_zipfile(source)):
    sys.exit(f"{source}: neither a folder nor a ZIP archive")
if out.exists():
    sys.exit(f"{out} exists; a new file is wanted")
endings = (".png", ".jpg", ".jpeg")
if source.is_dir():
    pictures = {path.name: path.read_bytes() for path in source.iterdir() if path.suffix.lower() in endings}
else:
    with zipfile.ZipFile(source) as archive:
        pictures = {name: archive.read(name) for name in archive.namelist() if name.lower().endswith(endings)}
chosen = sorted(pictures)[:int(sys.argv[4]) if len(sys.argv) == 5 else None]
squares = {}
for name in chosen:
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(pictures[name]))).convert("RGB")
    if min(picture.size) < size:
        sys.exit(f"{name} has {picture.width} x {picture.height} pixels; {size} x {size} are wanted")
    left, top = ((side - size) // 2 for side in picture.size)
    squares[name] = io.BytesIO()
    picture.crop((left, top, left + size, top + size)).save(squares[name], "png")
with zipfile.ZipFile(out, "x") as archive:
    for name, data in squares.items():
        archive.writestr(str(Path(name).with_suffix(".png")), data.getvalue())
print(f"{out}: {len(squares)} squares of {size} x {size} pixels")
