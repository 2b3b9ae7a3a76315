"""The examples in short form, and their types."""
import ast
import os
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, needs, needs_model

import eps

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
            self.assertIn(name + ".png", os.listdir(folder))
            return done.stdout, os.listdir(folder)

    @needs_model("photos-eps-small")
    def test_restore_your_picture(self):
        words, files = self.run_example("restore_your_picture")
        self.assertIn("2 samples of 3 x ", words)
        self.assertIn("restored.png", files)

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


class Types(unittest.TestCase):
    """Against the sources, whose stub the installed package has, too."""

    def check(self, folder, *options):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
             "--ignore-missing-imports", *options, folder],
            capture_output=True,
            text=True,
            cwd=os.path.join(ROOT, "python"),
            env=dict(os.environ, MYPYPATH=os.path.join(ROOT, "python")),
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs("mypy")
    def test_of_the_examples(self):
        # New stubs of torch have no types of loss.backward().
        self.check(EXAMPLES, "--disallow-any-unimported", "--allow-untyped-calls")

    @needs("mypy")
    def test_of_the_package(self):
        # Old stubs of torch say Any of what is indexed, and deepinv need not be there.
        self.check("eps", "--no-warn-return-any", "--allow-subclassing-any")

    def test_the_stub_names_what_the_module_has(self):
        with open(os.path.join(ROOT, "python", "eps", "_eps.pyi")) as file:
            stub = names_in(ast.parse(file.read()).body)
        module = {name for name in vars(eps._eps) if not name.startswith("_")}
        self.assertEqual({name for name in stub if not name.startswith("_")}, module)
        for name, members in stub.items():
            if members:
                public = {m for m in vars(getattr(eps._eps, name)) if not m.startswith("_")}
                self.assertEqual({m for m in members if not m.startswith("_")}, public, name)


def names_in(body):
    """Returns the names that a stub declares, with those in classes."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = names_in(node.body) if isinstance(node, ast.ClassDef) else {}
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = {}
    return found


if __name__ == "__main__":
    unittest.main()
