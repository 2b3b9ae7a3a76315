#!/usr/bin/env python3
"""Loads `eps serve` with many clients at once, good and bad ones, and checks every result.

    tests/serve/serve_load.py build/eps --clients 200 --minutes 10

The server runs on a port of its own, with a folder of its own for its files. Clients upload pictures
and compare what they get with what `eps restore` makes of the same, read slowly, send slowly, break
off, send broken forms, cancel, and watch. The script fails if the server dies, answers with an
unexpected status, lets more wait than it says, mixes results up, or grows: its memory may be 5%
larger at the end than after a fifth of the time. At last a server is killed at work, and the next
one has to remove what it left. Not part of the test suite: it takes minutes.
"""
import argparse
import collections
import hashlib
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from server import Server, form, png

SAMPLES, STEPS = 2, 2


class Load:
    def __init__(self, server, references, limit):
        self.server, self.references, self.limit = server, references, limit
        self.statuses, self.done = collections.Counter(), collections.Counter()
        self.wrong, self.lock, self.over = [], threading.Lock(), threading.Event()

    def count(self, what, status):
        with self.lock:
            self.statuses[f"{what} {status}"] += 1
        return status

    def fault(self, words):
        with self.lock:
            self.wrong.append(words)

    def ask(self, method, path, body=None, headers=None, what=None, expected=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            connection.request(method, path, body, {"X-Eps-Token": self.server.token, **(headers or {})})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        what = what or method
        self.count(what, answer.status)
        if expected and answer.status not in expected:
            self.fault(f"{what} {path}: {answer.status} {content[:200]!r}")
        return answer.status, content

    def start(self, key):
        picture, seed = key
        options = {"operator": {"denoise": True}, "noise": "6", "samples": SAMPLES, "steps": STEPS, "seed": seed}
        body, headers = form(options, png(picture))
        status, content = self.ask("POST", "/v1/restorations", body, headers, "create", (201, 429, 503))
        return json.loads(content)["id"] if status == 201 else None

    # What clients do.

    def restore(self, draw):
        key = draw.choice(list(self.references))
        job = self.start(key)
        if not job:
            return time.sleep(draw.uniform(0.5, 2))
        state = "queued"
        while state in ("queued", "running") and not self.over.is_set():
            status, content = self.ask("GET", f"/v1/restorations/{job}/events", what="events", expected=(200, 404, 503))
            if status == 404:
                return self.count("forgotten before it was fetched", "")
            if status == 200:
                state = json.loads(content.rsplit(b"data: ", 1)[1])["state"]
            else:
                time.sleep(0.5)
        if self.over.is_set():
            return
        if state != "done":
            return self.fault(f"{job}: {state}")
        status, content = self.ask("GET", f"/v1/restorations/{job}/files/samples.npy", what="file", expected=(200, 404, 503))
        if status == 200:
            right = hashlib.sha256(content).hexdigest() == self.references[key]
            with self.lock:
                self.done["right" if right else "wrong"] += 1
            if not right:
                self.fault(f"{job}: another result than that of eps restore")
        if draw.random() < 0.5:
            self.ask("DELETE", f"/v1/restorations/{job}", what="remove", expected=(204, 404, 503))

    def cancel(self, draw):
        job = self.start(draw.choice(list(self.references)))
        if job:
            time.sleep(draw.uniform(0, 0.3))
            self.ask("DELETE", f"/v1/restorations/{job}", what="cancel", expected=(202, 204, 404, 503))
        else:
            time.sleep(1)

    def watch(self, draw):
        status, content = self.ask("GET", "/v1/status", what="status", expected=(200, 503))
        if status == 200 and json.loads(content)["queue"]["waiting"] > self.limit:
            self.fault("more wait than the limit")
        self.ask("GET", "/v1/restorations", what="list", expected=(200, 503))
        self.ask("GET", "/", what="page", expected=(200, 503))
        time.sleep(draw.uniform(0.2, 1))

    def raw(self, draw, bytes_, piece=None, pause=0.0, read=True):
        """Sends bytes, piece by piece, and reads slowly if at all."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as one:
            try:
                for at in range(0, len(bytes_), piece or max(len(bytes_), 1)):
                    one.sendall(bytes_[at : at + (piece or len(bytes_))])
                    if pause:
                        time.sleep(pause)
                    if self.over.is_set():
                        return b""
                answer = b""
                while read and (part := one.recv(65536)):
                    answer += part
                return answer
            except OSError:
                return b""

    def head(self, method, path, length=None):
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Eps-Token: {self.server.token}\r\n"
        if length is not None:
            head += f"Content-Type: multipart/form-data; boundary=b0undary\r\nContent-Length: {length}\r\n"
        return (head + "\r\n").encode()

    def whole(self, draw):
        body, _ = form({"operator": {"denoise": True}, "noise": "6", "samples": 1, "steps": 1}, png(0))
        return self.head("POST", "/v1/restorations", len(body)) + body

    def slow_upload(self, draw):
        self.raw(draw, self.whole(draw), piece=97, pause=0.05)

    def broken_off(self, draw):
        bytes_ = self.whole(draw)
        self.raw(draw, bytes_[: draw.randrange(len(bytes_))], read=False)

    def slow_reader(self, draw):
        status, content = self.ask("GET", "/v1/restorations", what="list", expected=(200, 503))
        jobs = json.loads(content) if status == 200 else []
        if not jobs:
            return
        path = f"/v1/restorations/{draw.choice(jobs)['id']}/" + draw.choice(["events", "files/samples.npy", "files/sheet.png"])
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(self.head("GET", path))
            for _ in range(draw.randrange(20)):
                if not one.recv(50) or self.over.is_set():
                    return
                time.sleep(0.2)

    def large(self, draw):
        """Says that 40 MB come, and sends some of them."""
        answer = self.raw(draw, self.head("POST", "/v1/restorations", 40_000_000) + b"x" * 200_000)
        if answer and not re.match(rb"HTTP/1.1 (413|503) ", answer):
            self.fault(f"a large body: {answer[:60]!r}")

    def idle(self, draw):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60):
            time.sleep(draw.uniform(0, 3))

    def mutated(self, draw):
        bytes_ = bytearray(self.whole(draw))
        for _ in range(draw.randint(1, 6)):
            at, kind = draw.randrange(len(bytes_)), draw.randrange(4)
            if kind == 0:
                bytes_[at] = draw.randrange(256)
            elif kind == 1:
                del bytes_[at : at + draw.randint(1, 30)]
            elif kind == 2:
                bytes_[at:at] = bytes_[draw.randrange(len(bytes_)) :][: draw.randint(1, 60)]
            else:
                bytes_[at:at] = draw.choice([b"\r\n", b"\0", b"--b0undary", b"%2e%2e/", b"Content-Length: 9\r\n", b"\xff" * 40])
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as one:
            try:
                one.sendall(bytes_)
                one.shutdown(socket.SHUT_WR)
                answer = b""
                while part := one.recv(65536):
                    answer += part
            except OSError:
                answer = b""
        status = answer[9:12].decode("latin-1") if answer.startswith(b"HTTP/1.1 ") else "closed"
        self.count("mutated", status)
        if status.startswith("5") and status != "503":
            self.fault(f"mutated: {answer[:300]!r}")

    def client(self, number):
        draw = random.Random(number)
        kinds = [self.restore] * 8 + [self.cancel] * 2 + [self.watch] * 2 + [
            self.slow_upload, self.broken_off, self.slow_reader, self.large, self.idle, self.mutated]
        while not self.over.is_set():
            kind = draw.choice(kinds)
            try:
                kind(draw)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self.over.is_set():
                    self.count(f"{kind.__name__}: {type(error).__name__}", "")
                time.sleep(0.2)


def killed_and_restarted(args, folder):
    """Kills a server at work, and returns what it leaves and what the next one leaves of that."""
    folder = os.path.join(folder, "killed")
    os.mkdir(folder)
    left = lambda: sorted(name for name in os.listdir(folder) if name != "log")
    server = Server(args.program, args.model, folder)
    load = Load(server, {(0, 0): ""}, 8)
    started = [load.start((0, 0)) for _ in range(4)]
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    after_kill = left()
    following = Server(args.program, args.model, folder)
    names = left()
    following.process.send_signal(signal.SIGINT)
    code = following.process.wait(60)
    print(f"killed with {len(started)} restorations: left {after_kill}; after the next start {names}; after its end {left()}")
    return code == 0 and len(after_kill) == 1 and len(names) == 1 and names != after_kill and not left()


def references(program, model, folder):
    """Returns the hash of the samples that eps restore draws, by picture and seed."""
    hashes = {}
    for picture in range(4):
        path = os.path.join(folder, f"{picture}.png")
        with open(path, "wb") as file:
            file.write(png(picture))
        for seed in range(2):
            out = os.path.join(folder, f"out-{picture}-{seed}")
            subprocess.run([program, "restore", path, "--denoise", "--noise", "6", "--samples", str(SAMPLES), "--steps",
                            str(STEPS), "--seed", str(seed), "--model", model, "--out", out],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(os.path.join(out, "samples.npy"), "rb") as file:
                hashes[picture, seed] = hashlib.sha256(file.read()).hexdigest()
    return hashes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--model", default="photos-eps-small")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--mutated", type=int, default=10000, help="mutated requests after the load")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        known = references(args.program, args.model, folder)
        private = os.path.join(folder, "private")
        os.mkdir(private)
        server = Server(args.program, args.model, private)
        load = Load(server, known, 8)
        threads = [threading.Thread(target=load.client, args=(k,), daemon=True) for k in range(args.clients)]
        start, memory = time.time(), []
        for thread in threads:
            thread.start()
        while time.time() - start < 60 * args.minutes and server.process.poll() is None:
            time.sleep(5)
            memory.append(server.memory())
            print(f"{time.time() - start:5.0f} s: {memory[-1]:.0f} MB, {server.threads()} threads, "
                  f"{load.done['right']} right, {load.done['wrong']} wrong, {len(load.wrong)} faults", flush=True)
        load.over.set()
        for thread in threads:
            thread.join(90)
        draw = random.Random(0)
        for _ in range(args.mutated):
            load.mutated(draw)
        alive = server.process.poll() is None
        status = load.ask("GET", "/v1/status", what="status")[0] if alive else 0
        settled = memory[len(memory) // 5 :]
        print(json.dumps(dict(sorted(load.statuses.items())), indent=1))
        if alive:
            print(f"memory: {settled[0]:.0f} MB after a fifth of the time, {settled[-1]:.0f} MB in the end, "
                  f"{max(memory):.0f} MB at most, {server.memory():.0f} MB after the mutated requests")
        server.process.send_signal(signal.SIGINT)
        code = server.process.wait(60)
        left = [name for name in os.listdir(private) if name != "log"]
        print(f"results: {load.done['right']} right, {load.done['wrong']} wrong; status {status}; exit code {code}; left {left}")
        for words in load.wrong[:20]:
            print("fault:", words)
        good = alive and status == 200 and code == 0 and not left and not load.wrong and load.done["right"] > 0
        good = killed_and_restarted(args, folder) and good
        sys.exit(0 if good and settled[-1] <= 1.05 * settled[0] else 1)


if __name__ == "__main__":
    main()
