"""eps.train, metrics, and the program."""
import os
import subprocess
import sys
import tempfile
import unittest

import torch
from support import program
from test_networks import TINY

import eps


class Training(unittest.TestCase):
    def test_a_run_reports_and_can_be_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            lines, seen, said = [], [], []
            options = dict(TINY, tasks=["random_inpainting"], log_every=32, save_every=32)
            network = eps.train(
                f"{folder}/run", log=lines.append, say=said.append,
                progress=lambda *news: seen.append(news), **options,
            )  # fmt: skip
            self.assertEqual(network.inputs, "eps")
            self.assertEqual([line["images"] for line in lines if "loss" in line], [32, 64])
            self.assertEqual(seen[-1], ("images", 64, 64))
            self.assertEqual(network.provenance["images_seen"], 64)
            more = eps.train(f"{folder}/run", resume=True, images=96)
            self.assertEqual(more.provenance["images_seen"], 96)

    def test_the_fields_are_those_of_the_program(self):
        fields = eps.training_fields()
        words = program("train", "--help")
        for name in fields:
            self.assertIn("--" + name.replace("_", "-"), words)

    def test_wrong_fields_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for options, words in [
                (dict(bach=3), "unknown field"),
                (dict(images="many"), "images must be a whole number"),
                (dict(tasks="no such task"), "no such task"),
            ]:
                with self.assertRaisesRegex(eps.Error, words):
                    eps.train(f"{folder}/run", **options)
            self.assertEqual(os.listdir(folder), [])

    def test_ctrl_c_leaves_a_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            script = (
                "import eps, os, signal, sys\n"
                "def news(stage, done, total):\n"
                "    if done == 32: os.kill(os.getpid(), signal.SIGINT)\n"
                "try:\n"
                f"    eps.train({folder + '/run'!r}, progress=news, **{dict(TINY, images=100000, input='prior')!r})\n"
                "except KeyboardInterrupt:\n"
                "    sys.exit(0)\n"
                "sys.exit(2)\n"
            )
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = eps.load(f"{folder}/run/network.safetensors").provenance["images_seen"]
            self.assertLessEqual(seen, 64)


class Metrics(unittest.TestCase):
    def test_known_numbers(self):
        truth = torch.zeros(2, 1, 8, 8, dtype=torch.float64)
        scores = eps.metrics(truth + 0.2, truth)  # 0.1 of [0, 1]: 20 dB
        self.assertAlmostEqual(scores["psnr"][0], 20, places=6)
        self.assertIn("fid", scores.absent)

    def test_chi2_of_the_truth_is_that_of_the_noise(self):
        A = eps.operator("identity", (1, 32, 32))
        x = torch.zeros(4, 1, 32, 32, dtype=torch.float64)
        y = A.observe(x, 0.1, seed=0)
        chi2 = eps.metrics(x[None], x, operator=A, y=y, noise=0.1)["chi2"][0]
        self.assertLess(abs(chi2 - 1), 5 * (2 / (4 * 1024)) ** 0.5)


class Program(unittest.TestCase):
    def test_python_m_eps_is_the_program(self):
        self.assertEqual(program("--version").strip(), eps.__version__)
        done = subprocess.run([sys.executable, "-m", "eps", "restor"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "restore"', done.stderr)


if __name__ == "__main__":
    unittest.main()
