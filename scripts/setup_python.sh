#!/bin/sh
# Installs the Python package: into the environment build/python, over Debian's python3-torch, with what
# is missing of Debian's packages. Usage: setup_python.sh [PYTHON], a python with a torch of its own, into
# whose environment the package goes instead.
set -eu

cd "$(dirname "$0")/.."
python=${1:-}
scripts/setup.sh

packages="python3-torch python3-dev python3-venv python3-numpy python3-scipy pybind11-dev"
if [ -z "$python" ] && command -v dpkg-query >/dev/null; then
  missing=""
  for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    install="apt-get install -y --no-install-recommends$missing"
    if [ "$(id -u)" = 0 ]; then
      sudo=""
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      sudo="sudo"
    else
      echo "The Python package needs these; install them and run make python again:" >&2
      echo "  sudo $install" >&2
      exit 1
    fi
    echo "Installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    $sudo apt-get update -qq
    # shellcheck disable=SC2086  # the list is meant to be split
    $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
  fi
fi

if [ -z "$python" ]; then
  python=build/python/bin/python
  [ -x $python ] || /usr/bin/python3 -m venv --system-site-packages build/python
fi
# Without pip's own environment, and in a folder that is kept, so that a second build compiles what has changed only.
# Each torch has its own folder: CMake remembers where it found one.
torch=$("$python" -c 'import torch; print(torch.__version__, torch.__file__)' | cksum | cut -d " " -f 1)
"$python" -m pip install --quiet "scikit-build-core>=0.10" "pybind11>=2.10,<3" tqdm safetensors mypy
"$python" -m pip install --quiet --no-build-isolation --no-deps --config-settings "build-dir=build/torch-$torch" .
