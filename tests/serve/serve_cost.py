#!/usr/bin/env python3
"""Measures what serving costs: the time of restorations by `eps serve` over that of `eps restore`.

    tests/serve/serve_cost.py build/eps --rounds 15

Every round restores one picture in turn by `eps restore`, by a server that nobody watches, by one
whose events are read, and by one whose running means are fetched as well, each as soon as it is
told of: what the page does. The times are the sampling times of the reports. Printed are the median
and the quartiles of the rounds' ratios, so that a machine that is slower for a while does no harm;
the script fails if a median is above the bar. Not part of the test suite: it takes minutes.
"""
import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from server import Server, form, png

BAR = 1.03


class Cost:
    def __init__(self, server, args, folder):
        self.server, self.args, self.folder = server, args, folder
        self.picture, self.rounds, self.fetched = png(0, args.side), 0, 0
        with open(os.path.join(folder, "p.png"), "wb") as file:
            file.write(self.picture)

    def restore(self):
        """Returns the seconds of `eps restore`."""
        self.rounds += 1
        out = os.path.join(self.folder, f"out-{self.rounds}")
        subprocess.run(
            [self.args.program, "restore", os.path.join(self.folder, "p.png"), "--denoise", "--noise", "6", "--samples",
             str(self.args.samples), "--steps", str(self.args.steps), "--model", self.args.model, "--out", out],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(out, "restore.json")) as file:
            return json.load(file)["seconds"]

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=600)
        connection.request(method, path, body, {"X-Eps-Token": self.server.token, **(headers or {})})
        return connection.getresponse()

    def serve(self, watch):
        """Returns the seconds of the same restoration by the server; watch(job) may look at it."""
        options = {"operator": {"denoise": True}, "noise": "6", "samples": self.args.samples, "steps": self.args.steps}
        body, headers = form(options, self.picture)
        job = "/v1/restorations/" + json.load(self.ask("POST", "/v1/restorations", body, headers))["id"]
        watch(job)
        while (said := json.load(self.ask("GET", job)))["state"] in ("queued", "running"):
            time.sleep(0.5)
        self.ask("DELETE", job).read()
        return said["report"]["seconds"]

    def events(self, job):
        for _ in self.ask("GET", f"{job}/events"):
            pass

    def means(self, job):
        seen = 0
        for line in self.ask("GET", f"{job}/events"):
            newest = json.loads(line[6:]).get("preview", 0) if line.startswith(b"data: ") else 0
            if newest > seen:
                seen = newest
                self.fetched += self.ask("GET", f"{job}/preview.png").read().startswith(b"\x89PNG")

    def round(self):
        ways = {"nobody": lambda job: None, "events": self.events, "running means": self.means}
        direct = self.restore()
        return {name: self.serve(watch) / direct for name, watch in ways.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--model", default="photos-eps-small")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--side", type=int, default=256, help="of the picture, in pixels")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        private = os.path.join(folder, "private")
        os.mkdir(private)
        server = Server(args.program, args.model, private)
        cost = Cost(server, args, folder)
        cost.round()  # loads the network, and warms the caches
        rounds = [cost.round() for _ in range(args.rounds)]
        server.process.terminate()
        server.process.wait(60)
    medians = {}
    for name in rounds[0]:
        low, medians[name], high = statistics.quantiles([one[name] for one in rounds], n=4)
        print(f"{name}: {100 * (medians[name] - 1):+.1f}% (quartiles {100 * (low - 1):+.1f} to {100 * (high - 1):+.1f})")
    print(f"{cost.fetched} running means in {args.rounds + 1} rounds")
    sys.exit(0 if max(medians.values()) <= BAR else 1)


if __name__ == "__main__":
    main()
