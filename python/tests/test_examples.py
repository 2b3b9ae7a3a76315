"""The examples in short form, and their types."""
import os
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, needs, needs_model

EXAMPLES = os.path.join(ROOT, "python", "examples")


class Examples(unittest.TestCase):
    def run_example(self, name):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, os.path.join(EXAMPLES, name + ".py"), "--short"],
                capture_output=True,
                text=True,
                cwd=folder,
                timeout=600,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout, os.listdir(folder)

    @needs_model("faces64-eps")
    def test_restore_your_picture(self):
        words, files = self.run_example("restore_your_picture")
        self.assertIn("2 samples of 3 x 64 x 64", words)
        self.assertEqual(sorted(files), ["restored.png", "uncertainty.png"])

    @needs_model("faces64-prior")
    def test_compare_methods(self):
        words, _ = self.run_example("compare_methods")
        for name in ("eps", "pigdm", "diffpir", "dps"):
            self.assertRegex(words, f"(?m)^{name} ")
        self.assertIn("deepinv", words)

    def test_train_on_your_data(self):
        words, _ = self.run_example("train_on_your_data")
        self.assertIn("128 images: loss", words)
        self.assertIn("error of the mean", words)

    @needs_model("faces64-eps")
    def test_write_an_operator(self):
        words, _ = self.run_example("write_an_operator")
        self.assertIn("a basis: error", words)

    @needs("mypy")
    def test_types(self):
        # Against the sources, whose stub the installed package has, too.
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
             "--ignore-missing-imports", "--disallow-any-unimported", EXAMPLES],
            capture_output=True,
            text=True,
            cwd=os.path.join(ROOT, "python"),
            env=dict(os.environ, MYPYPATH=os.path.join(ROOT, "python")),
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
