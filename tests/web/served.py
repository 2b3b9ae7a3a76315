"""The program as a server of the page, and what a test asks of it directly."""
import json
import re
import struct
import subprocess
import urllib.request
import zlib


class Served:
    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "serve", "--port", "0", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if address := re.search(r"(http://127\.0\.0\.1:\d+)/\?token=(\S+)", line):
                self.base, self.token = address[1], address[2]
                break
        else:
            raise AssertionError("eps serve printed no address: " + "".join(said))
        self.address = f"{self.base}/?token={self.token}"

    def get(self, path, method="GET"):
        request = urllib.request.Request(f"{self.base}{path}", headers={"X-Eps-Token": self.token}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def json(self, path):
        return json.loads(self.get(f"/v1/{path}"))

    def delete(self, path):
        self.get(f"/v1/{path}", "DELETE")

    def close(self):
        self.process.terminate()
        self.process.wait()


def grey_levels(data):
    """The rows of the first channel of a PNG of 8 bits."""
    at, packed = 8, b""
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        contents = data[at + 8:at + 8 + length]
        if name == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", contents[:10])
            assert depth == 8, f"8 bits are wanted, got {depth}"
        elif name == b"IDAT":
            packed += contents
        at += length + 12
    step = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    raw, rows, above = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        kind, row = raw[y * (width * step + 1)], bytearray(raw[y * (width * step + 1) + 1:(y + 1) * (width * step + 1)])
        for x in range(len(row)):
            left = row[x - step] if x >= step else 0
            corner = above[x - step] if x >= step else 0
            guess = left + above[x] - corner
            near = min((abs(guess - left), 0, left), (abs(guess - above[x]), 1, above[x]), (abs(guess - corner), 2, corner))[2]
            row[x] = (row[x] + [0, left, above[x], (left + above[x]) // 2, near][kind]) % 256
        above = bytes(row)
        rows.append(list(row[::step]))
    return rows
