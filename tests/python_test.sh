#!/bin/sh
# The Python package, in the environment of make python, if that is of these sources. Usage: python_test.sh SOURCES
set -eu
cd "$1"
python=build/python/bin/python
if ! [ -x $python ]; then
  echo "skipped: there is no $python; make python makes it"
  exit 77
fi
installed=$($python -c 'import importlib.util; print(importlib.util.find_spec("eps").submodule_search_locations[0])')
newer=$(find eps cli python/src python/eps -newer "$installed/_built_for.py" -type f ! -name '*.pyc' | head -n 1)
if [ -n "$newer" ]; then
  echo "skipped: $newer is newer than the package in build/python; make python builds it"
  exit 77
fi
exec $python -m unittest discover -s python/tests -t python/tests
