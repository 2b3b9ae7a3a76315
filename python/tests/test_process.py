"""What would take the process down: wrong calls, and two libtorch."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import torch
from support import ROOT

import eps
from eps import _torch

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = os.environ.get("EPS_WRONG_CALLS", "1500")


class WrongCalls(unittest.TestCase):
    def test_all_end_in_exceptions(self):
        """EPS_WRONG_CALLS=10000 makes more of them."""
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", os.path.join(HERE, "wrong_calls.py"), CALLS],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("TypeError", done.stdout)


class Source(unittest.TestCase):
    def test_the_folder_of_the_source_says_what_it_is(self):
        done = subprocess.run(
            [sys.executable, "-c", "import eps"],
            capture_output=True,
            text=True,
            cwd=os.path.join(ROOT, "python"),
            env=dict(os.environ, PYTHONPATH=""),
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("is the source of eps, which is not built there: pip install .", done.stderr)


class Build(unittest.TestCase):
    @unittest.skipUnless(all(map(shutil.which, ("cmake", "make", "c++"))), "skipped: there is no CMake")
    def test_a_folder_of_another_torch_is_refused_with_words(self):
        """CMake would link the libraries that it remembers of the other one."""
        with tempfile.TemporaryDirectory() as folder:
            other = "-DEPS_PYTHON_TORCH=1.2.3;/of/another;1"
            python = f"-DPython_EXECUTABLE={sys.executable}"
            done = subprocess.run(
                ["cmake", "-S", ROOT, "-B", folder, "-DEPS_PYTHON=ON", python, other],
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 1)
        words = " ".join(done.stderr.split())
        self.assertIn("was made for the torch 1.2.3;/of/another;1, and", words)
        self.assertIn(torch.__version__, words)


class OneLibtorch(unittest.TestCase):
    def run_python(self, script):
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    def test_there_is_one(self):
        self.assertEqual(len(_torch.loaded_libtorches()), 1)

    def test_another_torch_is_refused_with_words(self):
        done = self.run_python("import torch; torch.__version__ = '9.9.9'; import eps")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: eps was built for torch", done.stderr)
        self.assertIn("9.9.9", done.stderr)

    def test_a_second_libtorch_in_the_process_is_refused_with_words(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libtorch_cpu.so.0")
            with open(path, "wb") as file:
                file.write(b"\0" * 4096)
            done = self.run_python(
                f"import mmap; f = open({path!r}, 'r+b'); m = mmap.mmap(f.fileno(), 0); import eps"
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: two libtorch are loaded", done.stderr)
        self.assertIn(path, done.stderr)


if __name__ == "__main__":
    unittest.main()
