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
from support import needs, needs_model, program

import eps

FACES = "faces64-eps"
NETWORK = eps._eps.photos_network


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
        for key in ("chi2", "noise", "operator", "model", "findings", "warnings"):
            self.assertEqual(report[key], result.report[key], key)

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
        # A rehearsal follows where the samples do not fit, as those of so few steps may not.
        drawn = [news for news in seen if news[0] == "evaluations"]
        self.assertEqual((seen[0], drawn[-1]), (("evaluations", 0, 4), ("evaluations", 4, 4)))

    @needs("tqdm")
    def test_tqdm_draws_where_it_is_asked_for(self):
        import contextlib
        import io

        for progress, words in ((True, "4/4"), (False, ""), (None, "")):  # nobody looks at a file
            with contextlib.redirect_stderr(io.StringIO()) as drawn:
                self.restore(progress=progress)
            self.assertIn(words, drawn.getvalue())
            self.assertEqual(bool(words), bool(drawn.getvalue()))

    def test_restorations_in_several_threads_are_those_of_one(self):
        from concurrent.futures import ThreadPoolExecutor

        seeds = [0, 1, 2, 3]
        wanted = [self.restore(seed=seed).samples for seed in seeds]
        with ThreadPoolExecutor(4) as pool:
            got = list(pool.map(lambda seed: self.restore(seed=seed, progress=lambda *news: None).samples, seeds))
        for a, b in zip(wanted, got):
            self.assertLess((a - b).abs().max(), 1e-4)

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


@needs_model("photos-eps-small")
class Photographs(unittest.TestCase):
    """Of any size, in memory: what a user of NumPy and Pillow has."""

    @classmethod
    def setUpClass(cls):
        cls.network = eps.load("photos-eps-small", device="cpu")
        photo = eps.read_image(eps.find_in_models("photos-images/nyc.png"))
        cls.truth = photo[:, 100:173, 60:151].numpy()  # no multiple of anything
        noise = numpy.random.default_rng(0).normal(0, 10, cls.truth.shape)
        cls.bytes = ((cls.truth + 1) * 127.5 + noise).clip(0, 255).round().astype("uint8")

    def restore(self, y, **options):
        given = dict(denoise=True, noise=10 * eps.GREY_LEVEL, model=self.network)
        if not options.get("quick"):
            given.update(samples=2, steps=3)
        return eps.restore(y, **{**given, **options})

    def test_arrays_go_in_and_come_out(self):
        r = self.restore(self.bytes, noise=None, quick=True)
        self.assertEqual(tuple(r.mean.shape), self.truth.shape)
        self.assertLess(abs(r.noise / eps.GREY_LEVEL - 10), 2)
        before = numpy.square(self.bytes / 127.5 - 1 - self.truth).mean()
        self.assertLess(numpy.square(r.mean.numpy() - self.truth).mean(), before / 4)
        self.assertEqual(r.warnings, [])  # the picture is bright, but bytes have a known range
        self.assertEqual(eps.pixels(r.mean).shape, (73, 91, 3))
        self.assertEqual(eps.pixels(r.mean[:1]).shape, (73, 91))

    @needs("PIL")
    def test_pictures_of_pillow_are_taken(self):
        from PIL import Image

        picture = Image.fromarray(self.bytes.transpose(1, 2, 0))
        self.assertTrue(torch.equal(self.restore(picture).samples, self.restore(self.bytes).samples))
        with self.assertRaisesRegex(TypeError, "mode L or RGB is wanted, got CMYK"):
            self.restore(picture.convert("CMYK"))

    def test_masks_and_kernels_in_memory_serve_files_and_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            eps.write_image(f"{folder}/y.png", self.bytes)
            rng = numpy.random.default_rng(1)
            for option, values in (
                ("mask", rng.random(self.truth.shape[1:]) < 0.7),
                ("kernel", rng.random((3, 5)) / 7.5),
            ):
                numpy.save(f"{folder}/{option}.npy", values)
                wanted = self.restore(f"{folder}/y.png", denoise=False, **{option: f"{folder}/{option}.npy"})
                for y in (f"{folder}/y.png", self.bytes):
                    got = self.restore(y, denoise=False, **{option: values})
                    self.assertTrue(torch.equal(wanted.samples, got.samples), option)
        with self.assertRaisesRegex(eps.Error, "mask: the mask has 3 x 2 pixels .*, the image 91 x 73"):
            self.restore(self.bytes, denoise=False, mask=numpy.ones((2, 3)))
        with self.assertRaisesRegex(eps.Error, "kernel: the kernel is all zero"):
            self.restore(self.bytes, denoise=False, kernel=numpy.zeros((3, 3)))

    @needs_model("photos-eps")
    def test_the_network_is_chosen_as_the_program_chooses(self):
        """photos-eps for holes and for one evaluation, also on a CPU."""
        from unittest import mock

        y, hole = self.bytes[:, :24, :24], numpy.ones((24, 24))
        hole[4:6, 3:20] = 0
        chosen = {
            "samples": dict(denoise=True, samples=2, steps=1),
            "one evaluation": dict(denoise=True, quick=True),
            "a hole": dict(mask=hole, samples=2, steps=1),
        }
        # As on a machine without a GPU, wherever this runs.
        small = mock.patch.object(eps._eps, "photos_network", lambda device, large: NETWORK("cpu", large))
        with small, tempfile.TemporaryDirectory() as folder:
            eps.write_image(f"{folder}/y.png", y)
            eps.write_image(f"{folder}/hole.png", 2 * torch.from_numpy(hole)[None] - 1)
            for name, options in chosen.items():
                with self.subTest(name):
                    r = eps.restore(y, noise=10 * eps.GREY_LEVEL, **options)
                    words = ["--mask", f"{folder}/hole.png"] if "mask" in options else ["--denoise"]
                    words += ["--quick"] if "quick" in options else ["--samples", 2, "--steps", 1]
                    out = f"{folder}/{name}"
                    program("restore", f"{folder}/y.png", *words, "--noise", 10, "--device", "cpu", "--out", out)
                    with open(f"{out}/restore.json") as file:
                        self.assertEqual(r.report["model"], json.load(file)["model"])
                    small_one = name == "samples"
                    self.assertEqual(r.report["model"], "photos-eps-small" if small_one else "photos-eps")

    def test_options_are_numbers_as_well(self):
        for text, numbers in [
            (dict(motion="5,30"), dict(motion=(5, 30))),
            (dict(downscale="2,bicubic"), dict(downscale=(2, "bicubic"))),
        ]:
            as_text, as_numbers = (
                self.restore(self.bytes, denoise=False, quick=True, **options) for options in (text, numbers)
            )
            self.assertTrue(torch.equal(as_text.mean, as_numbers.mean))

    def test_noise_in_grey_levels_is_warned_of(self):
        r = self.restore(self.bytes, noise=6.4, quick=True)
        self.assertIn("6.4 * eps.GREY_LEVEL", " ".join(r.warnings))

    def test_results_are_seen_and_kept(self):
        r = self.restore(self.bytes)
        self.assertEqual(r.sheet().dtype, torch.uint8)
        shown = r._repr_html_()
        self.assertIn("2 samples of 3 x 73 x 91", shown)
        self.assertIn('src="data:image/png;base64,iVBOR', shown)
        with tempfile.TemporaryDirectory() as folder:
            r.save(f"{folder}/out")
            files = set(os.listdir(f"{folder}/out"))
            self.assertLessEqual({"mean.png", "sample-2.png", "samples.npy", "sheet.png", "restore.json"}, files)
            with self.assertRaisesRegex(eps.Error, "a new or an empty folder is wanted"):
                r.save(f"{folder}/out")

    def test_ctrl_c_stops_a_large_picture(self):
        script = (
            "import eps, os, signal, sys, torch\n"
            "seen = []\n"
            "def news(stage, done, total):\n"
            "    seen.append(done)\n"
            "    if done > 0: os.kill(os.getpid(), signal.SIGINT)\n"
            "try:\n"
            "    eps.restore(torch.zeros(3, 301, 403), denoise=True, noise=0.1, steps=50, progress=news)\n"
            "except KeyboardInterrupt:\n"
            "    sys.exit(len(seen) > 3)\n"
            "sys.exit(2)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)


class Pictures(unittest.TestCase):
    def test_a_sheet_has_words_and_images(self):
        bright, dark = torch.ones(3, 8, 8), -torch.ones(1, 8, 8)
        sheet = eps.sheet(["a", "b"], {"first": [bright, dark], "": [dark, bright]}, magnify=4)
        self.assertEqual((sheet.dtype, sheet.shape[0]), (torch.uint8, 3))
        for wrong in ({}, {"first": [bright]}, {"first": [bright, torch.zeros(8)]}):
            with self.assertRaises(eps.Error):
                eps.sheet(["a", "b"], wrong)

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
