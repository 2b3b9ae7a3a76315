#!/bin/sh
# Times the U-Net of eps and the same network in PyTorch's Python, in turns, and prints the ratio.
# usage: benchmarks/unet_compare.sh [build folder] [rounds]; PYTHON names the Python that has torch.
set -eu
here=$(dirname "$0")
build=${1:-$here/../build/release}
rounds=${2:-5}
python=
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
  "$candidate" -c 'import torch' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
  echo "unet_compare: no Python with torch found (Debian: python3-torch); PYTHON may name one" >&2
  exit 2
fi

# Threads wait asleep: on a shared machine, spinning threads would slow both programs many times
# over, and unequally.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-PASSIVE}"
times=$(mktemp)
trap 'rm -f "$times"' EXIT
for round in $(seq "$rounds"); do
  "$build/benchmarks/unet_bench" --benchmark_format=csv --benchmark_min_time=2 2>/dev/null |
    awk -F, '/^"unet/ { split($1, name, "/"); printf "ours %d %s %.4g\n", name[2], $3, $NF }'
  "$python" "$here/unet_reference.py" --seconds 2 | awk '{ print "theirs", $1, $2, $3 }'
done > "$times"

# The median over the rounds excludes rounds that other programs on the machine disturb.
sort -k1,1 -k2,2n -k3,3n "$times" | awk '
  { key = $1 " " $2; n[key]++; time[key, n[key]] = $3; answer[key] = $4 }
  function median(key) { return time[key, int((n[key] + 1) / 2)] }
  END {
    for (batch = 1; batch <= 8; batch += 7) {
      ours = "ours " batch; theirs = "theirs " batch
      printf "batch %d: ours %.1f ms, PyTorch %.1f ms, ratio %.3f (mean square %s and %s)\n", batch,
             median(ours), median(theirs), median(ours) / median(theirs), answer[ours], answer[theirs]
    }
  }'
