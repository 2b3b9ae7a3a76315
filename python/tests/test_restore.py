"""eps.restore is eps restore: the same samples; progress, Ctrl-C and errors."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy
import torch
from support import needs_model, program

import eps

FACES = "faces64-eps"


def face(number="07"):
    return eps._eps.find_in_models(f"faces64-images/{number}.png")


@needs_model(FACES)
class SameSamples(unittest.TestCase):
    """To the bit, on a CPU, with as many threads."""

    @classmethod
    def setUpClass(cls):
        cls.network = eps.load(FACES, device="cpu")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def run_program(self, name, *arguments):
        out = os.path.join(self.folder.name, name)
        program(
            "restore", *arguments, "--model", FACES, "--samples", 2, "--steps", 3, "--seed", 5,
            "--device", "cpu", "--threads", torch.get_num_threads(), "--out", out,
        )  # fmt: skip
        return out

    def check(self, out, result):
        for name, tensor in [
            ("samples", result.samples),
            ("mean", result.mean),
            ("deviation", result.deviation),
            ("interval", result.interval),
        ]:
            wanted = torch.from_numpy(numpy.load(f"{out}/{name}.npy"))
            self.assertTrue(torch.equal(wanted, tensor.float()), name)
        with open(f"{out}/restore.json") as file:
            report = json.load(file)
        for key in ("chi2", "sigma_y", "operator", "findings", "warnings"):
            self.assertEqual(report.get(key), result.report.get(key), key)

    def test_of_a_simulated_measurement(self):
        spec = "inpaint_random:missing=0.7"
        out = self.run_program("a", face(), "--simulate", "--operator", spec)
        options = dict(samples=2, steps=3, seed=5, model=self.network)
        self.check(out, eps.restore(face(), spec, simulate=True, **options))
        # The measurement as a file, and in memory with the mask in memory.
        y = numpy.load(f"{out}/measurement.npy")
        mask = numpy.load(f"{out}/mask.npy")
        file = self.run_program(
            "b", f"{out}/measurement.npy", "--mask", f"{out}/mask.npy", "--noise", "sigma=0.05"
        )
        self.check(file, eps.restore(f"{out}/measurement.npy", mask=f"{out}/mask.npy", noise=0.05, **options))
        in_memory = eps.restore(y, mask=mask, noise=0.05, **options)
        wanted = torch.from_numpy(numpy.load(f"{file}/samples.npy"))
        self.assertTrue(torch.equal(wanted, in_memory.samples.float()))
        operator = eps.inpainting(mask, (3, 64, 64))
        again = eps.restore(torch.from_numpy(y), operator, 0.05, **options)
        self.assertTrue(torch.equal(wanted, again.samples.float()))
        method = eps.method("eps", steps=3, sigma_min=0.01)
        drawn = method(y, operator, 0.05, self.network, samples=2, seed=5).clamp(-1, 1)
        self.assertTrue(torch.equal(wanted, drawn.float()))

    def test_of_a_prior(self):
        prior = eps.load("faces64-prior", device="cpu")
        path = os.path.join(self.folder.name, "prior.npy")
        program(
            "sample", "faces64-prior", "--out", path, "--seeds", "0-1", "--steps", 3,
            "--device", "cpu", "--threads", torch.get_num_threads(),
        )  # fmt: skip
        drawn = eps.sample(prior, 2, steps=3)
        self.assertTrue(torch.equal(torch.from_numpy(numpy.load(path)), drawn))

    def test_of_a_network_of_the_posterior_as_its_own_prior(self):
        A = eps.operator("inpaint_random:missing=0.7", (3, 64, 64))
        y = A.observe(eps.read_image(face()).double(), 0.05, seed=0)
        method = eps.method("pigdm", steps=2)
        direct = method(y, A, 0.05, self.network).clamp(-1, 1)
        through = method(y, A, 0.05, self.network.module()).clamp(-1, 1)
        self.assertLess((direct - through).abs().max(), 1e-4)
        x = torch.randn(1, 3, 64, 64)
        nothing = eps.inpainting(torch.zeros(64, 64), (3, 64, 64))
        query = eps.query(nothing, torch.zeros_like(x), x, 0.7, 1.0, inputs=self.network.inputs)
        difference = (self.network(x, 0.7) - self.network(query)).abs().max()
        self.assertLess(difference, 1e-5)

    def test_of_a_python_function_that_evaluates_the_network(self):
        prior = eps.load("faces64-prior", device="cpu")
        A = eps.operator("super_resolution:factor=4", (3, 64, 64))
        y = A.observe(eps.read_image(face()).double(), 0.05, seed=0)
        options = dict(noise=0.05, samples=1, steps=2, method="pigdm")
        direct = eps.method("pigdm", steps=2)(y, A, 0.05, prior)
        through = eps.restore(y, A, model=lambda x, sigma: prior(x, sigma), **options)
        difference = (direct.clamp(-1, 1) - through.samples).abs().max()
        self.assertLess(difference, 1e-4)


@needs_model(FACES)
class Watching(unittest.TestCase):
    def setUp(self):
        self.network = eps.load(FACES, device="cpu")
        self.A = eps.operator("super_resolution:factor=4", (3, 64, 64))
        self.y = self.A.observe(eps.read_image(face()).double(), 0.05, seed=0)

    def restore(self, **options):
        given = dict(noise=0.05, samples=2, steps=2, model=self.network)
        return eps.restore(self.y, self.A, **{**given, **options})

    def test_progress_counts_evaluations(self):
        seen = []
        self.restore(progress=lambda *news: seen.append(news))
        self.assertEqual(seen[0], ("evaluations", 0, 4))
        self.assertEqual(seen[-1], ("evaluations", 4, 4))

    def test_what_a_callback_raises_ends_the_restoration(self):
        def stop(stage, done, total):
            if done > 0:
                raise InterruptedError("enough")

        with self.assertRaisesRegex(InterruptedError, "enough"):
            self.restore(progress=stop)

    def test_the_gil_is_free_while_computing(self):
        import threading

        ticks, done = [], threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(1)

        thread = threading.Thread(target=tick, daemon=True)
        thread.start()
        self.addCleanup(done.set)
        self.network(eps.query(self.A, self.y[None], self.y.new_zeros(1, 3, 64, 64), 1.0, 0.05, self.network.inputs))
        before = len(ticks)
        self.restore(samples=4, steps=2)
        during = len(ticks) - before
        self.assertGreater(during, 10)

    def test_ctrl_c_stops_at_the_next_evaluation(self):
        script = (
            "import eps, os, signal, sys\n"
            f"A = eps.operator('super_resolution:factor=4', (3, 64, 64))\n"
            "import torch\n"
            "seen = []\n"
            "def news(stage, done, total):\n"
            "    seen.append(done)\n"
            "    if done == 2: os.kill(os.getpid(), signal.SIGINT)\n"
            "try:\n"
            f"    eps.restore(torch.zeros(3, 16, 16), A, 0.05, model={FACES!r}, samples=1, steps=50, progress=news)\n"
            "except KeyboardInterrupt:\n"
            "    sys.exit(len(seen) > 4)\n"
            "sys.exit(2)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_wrong_input_is_refused_with_words(self):
        for options, words in [
            (dict(noise=-1.0), "noise must be > 0"),
            (dict(samples=0), "samples must be a whole number of at least 1"),
            (dict(method="palette"), "the method palette needs one for the input palette"),
            (dict(region="here"), "region is auto, holes or whole"),
            (dict(model=lambda x, s: x), "a prior needs a method"),
            (dict(model=lambda x, s: x[:1, :1], method="ddnm", noise=0.05), "images of"),
            (dict(motion="15,30"), "one operator is wanted"),
        ]:
            with self.assertRaisesRegex(eps.Error, words):
                self.restore(**options)
        with self.assertRaisesRegex(eps.Error, "no-such-model"):
            self.restore(model="no-such-model")
        with self.assertRaisesRegex(eps.Error, "which operator made the measurement"):
            eps.restore(self.y, noise=0.05, model=self.network)
        with self.assertRaises(TypeError):
            self.restore(unknown=3)


class Pictures(unittest.TestCase):
    def test_a_picture_survives_writing_and_reading(self):
        with tempfile.TemporaryDirectory() as folder:
            image = (torch.arange(3 * 5 * 7).reshape(3, 5, 7) % 256) / 127.5 - 1
            eps.write_image(f"{folder}/a.png", image)
            torch.testing.assert_close(eps.read_image(f"{folder}/a.png"), image)

    @needs_model(FACES)
    def test_a_restoration_writes_its_mean(self):
        with tempfile.TemporaryDirectory() as folder:
            r = eps.restore(face(), denoise=True, noise=0.1, quick=True, model=FACES)
            r.write(f"{folder}/mean.png")
            shown = eps.read_image(f"{folder}/mean.png").double()
            self.assertLess((shown - r.mean).abs().max(), 0.51 / 127.5)
            self.assertIsNone(r.deviation)


if __name__ == "__main__":
    unittest.main()
