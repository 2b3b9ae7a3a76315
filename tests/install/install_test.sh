#!/bin/bash
# An installed eps from the outside: the public headers are there and no others, and a project that finds eps compiles
# with all of them, and runs.
# Usage: install_test.sh SOURCE BUILD [options of cmake]
set -eu
source=$1
build=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/eps" >"$folder/log"
(cd "$folder/eps/include" && find eps -type f) | sort >"$folder/installed"
grep -o 'eps/[^ )]*\.h' "$source/cmake/EpsPublicHeaders.cmake" | sort >"$folder/wanted"
diff "$folder/wanted" "$folder/installed"

cmake -S "$source/tests/install" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/eps" \
  -DEPS_PUBLIC_HEADER_LIST="$source/cmake/EpsPublicHeaders.cmake" "$@" >"$folder/log" 2>&1 ||
  { cat "$folder/log" && exit 1; }
cmake --build "$folder/build" >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }
"$folder/build/consumer"
