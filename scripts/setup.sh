#!/bin/sh
# Installs what is missing of the packages eps is built with, or says what to install.
set -eu

# libopenblas0-openmp: without it libtorch falls back on the reference BLAS, many times slower.
packages="cmake ninja-build g++ git clang-format libtorch-dev libgloo-dev libopenblas0-openmp libcli11-dev
nlohmann-json3-dev libcpp-httplib-dev pkg-config libfmt-dev libpng-dev libjpeg-dev zlib1g-dev libgtest-dev libbenchmark-dev"

# Other systems, and machines with a PyTorch that is not Debian's, bring their own packages: CMake looks.
own_torch='import sys, torch; sys.exit("dist-packages" in torch.__file__)'
if ! command -v dpkg-query >/dev/null || python3 -c "$own_torch" 2>/dev/null; then
  exit 0
fi

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
  sudo=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  sudo="sudo"
else
  echo "eps needs these packages; install them and run make again:" >&2
  echo "  sudo $install" >&2
  exit 1
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086  # the list is meant to be split
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
