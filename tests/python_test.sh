#!/bin/sh
# The operators of the Python package, in the environment of make python. Usage: python_test.sh SOURCES
set -eu
python=$1/build/python/bin/python
if ! [ -x "$python" ]; then
  echo "skipped: there is no $python; make python makes it"
  exit 77
fi
cd "$1/python/tests"
exec "$python" -m unittest test_operators
