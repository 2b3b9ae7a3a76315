#!/usr/bin/env python3
"""Measures what serving costs beside the sampling.

    tests/serve/serve_cost.py build/eps --rounds 10

Every round restores one picture in turn by `eps restore`, by a server that nobody watches, by one
whose events are read, and by one whose running means are fetched as well, each as soon as it is
told of: what the page does. Printed are medians and quartiles of the rounds: of the share of the
processor's time that the threads of requests take from those that sample, which other programs
hardly change, and of the sampling time over that of `eps restore`, which wants a quiet machine. The
script fails if a median of the former, or a lower quartile of the latter, is above the bar: threads
that sample in a server may be slower by themselves. Not part of the test suite: it takes minutes.
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

MOST = 3  # percent


class Cost:
    def __init__(self, server, args, folder):
        self.server, self.args, self.folder = server, args, folder
        self.picture, self.runs, self.fetched = png(0, args.side), 0, 0
        with open(os.path.join(folder, "p.png"), "wb") as file:
            file.write(self.picture)

    def restore(self):
        """Returns the sampling time of `eps restore`, in seconds."""
        self.runs += 1
        out = os.path.join(self.folder, f"out-{self.runs}")
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
        """Returns the sampling time of the server, and the share of requests; watch(job) may look at it."""
        options = {"operator": {"denoise": True}, "noise": "6", "samples": self.args.samples, "steps": self.args.steps}
        body, headers = form(options, self.picture)
        job = "/v1/restorations/" + json.load(self.ask("POST", "/v1/restorations", body, headers))["id"]
        before, own_before = self.server.processor_seconds()
        watch(job)
        while (said := json.load(self.ask("GET", job)))["state"] in ("queued", "running"):
            time.sleep(2)  # to ask is a request, too
        after, own = self.server.processor_seconds()
        self.ask("DELETE", job).read()
        # Those that sample, one for each core, are the busiest.
        busiest = sorted((seconds - own_before.get(one, 0) for one, seconds in own.items()), reverse=True)
        return said["report"]["seconds"], 1 - sum(busiest[: os.cpu_count()]) / (after - before)

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
        """Returns of each way the share of requests, and how much longer it samples."""
        ways = {"nobody": lambda job: None, "events": self.events, "running means": self.means}
        direct, served = self.restore(), {name: self.serve(watch) for name, watch in ways.items()}
        found = {name: (share, seconds / direct - 1) for name, (seconds, share) in served.items()}
        print({name: [f"{100 * one:+.1f}%" for one in both] for name, both in found.items()}, flush=True)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--model", default="photos-eps-small")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--side", type=int, default=256, help="of the picture, in pixels")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait take nothing
    with tempfile.TemporaryDirectory() as folder:
        private = os.path.join(folder, "private")
        os.mkdir(private)
        server = Server(args.program, args.model, private)
        cost = Cost(server, args, folder)
        cost.serve(cost.events)  # loads the network
        rounds = [cost.round() for _ in range(args.rounds)]
        server.process.terminate()
        server.process.wait(60)
    worst = 0
    for name in rounds[0]:
        for k, what in enumerate(("share of requests", "sampling time")):
            low, median, high = (100 * q for q in statistics.quantiles([one[name][k] for one in rounds], n=4))
            print(f"{name}, {what}: {median:+.1f}% (quartiles {low:+.1f} to {high:+.1f})")
            worst = max(worst, median if k == 0 else low)
    print(f"{cost.fetched} running means fetched")
    sys.exit(0 if worst <= MOST else 1)


if __name__ == "__main__":
    main()
