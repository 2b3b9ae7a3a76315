#!/usr/bin/env python3
"""Tests of the page in a real browser: browser_test.py PROGRAM [TEST ...]."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from attacks import Attacks  # noqa: E402,F401
from browser import found  # noqa: E402
from looks import Looks  # noqa: E402,F401
from paths import Paths  # noqa: E402,F401
from sayings import Sayings  # noqa: E402,F401
from session import Session  # noqa: E402

if __name__ == "__main__":
    if not found():
        print("skipped: there is no chromium with its chromedriver")
        sys.exit(77)
    Session.program = sys.argv.pop(1)
    unittest.main(verbosity=2)
