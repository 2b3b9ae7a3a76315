"""What the tests share."""
import os
import subprocess
import sys
import unittest

import eps

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def program(*arguments, **options):
    """Runs `python3 -m eps` and returns what it prints."""
    command = [sys.executable, "-m", "eps", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def has_model(name):
    return name in eps.models()


def needs_model(name):
    return unittest.skipUnless(has_model(name), f"skipped: there is no {name}")


def needs(module):
    """Skips a test visibly where a package is absent."""
    import importlib.util

    return unittest.skipUnless(importlib.util.find_spec(module), f"skipped: there is no {module}")
