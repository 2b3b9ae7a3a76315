"""A running `eps serve` and what is sent to it, for the scripts that load and measure it."""
import json
import os
import random
import re
import struct
import subprocess
import zlib


def png(seed, side=32):
    """Returns a grey ramp with noise, as a PNG of 8 bits."""
    draw = random.Random(seed)
    rows = b"".join(
        b"\0" + bytes(min(255, max(0, int(x * 200 / side + y + draw.gauss(0, 6)))) for x in range(side) for _ in range(3))
        for y in range(side)
    )
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Server:
    def __init__(self, program, model, folder):
        self.log = open(os.path.join(folder, "log"), "w")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--model", model], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, "TMPDIR": folder})
        address = self.process.stdout.readline()
        self.port, self.token = re.match(r"http://127.0.0.1:(\d+)/\?token=(\w+)", address).groups()
        self.port = int(self.port)

    def memory(self):
        """Returns the resident bytes, in MB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024

    def processor_seconds(self):
        """Returns the time of the processor that all threads have had, and that of each by its number."""
        def seconds(path):
            with open(path) as stat:
                fields = stat.read().rsplit(") ", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        folder = f"/proc/{self.process.pid}"
        return seconds(f"{folder}/stat"), {one: seconds(f"{folder}/task/{one}/stat") for one in os.listdir(f"{folder}/task")}

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


def form(options, picture):
    """Returns the body of a request and its headers."""
    boundary = "b0undary"
    parts = [("options", None, json.dumps(options).encode()), ("image", "p.png", picture)]
    body = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'.encode()
        + (f'; filename="{file}"'.encode() if file else b"") + b"\r\n\r\n" + content + b"\r\n"
        for name, file, content in parts)
    return body + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}
