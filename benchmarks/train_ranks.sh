#!/bin/sh
# Prints images per second of one training process and of two that share the batch, one CPU thread
# each.
#
#   benchmarks/train_ranks.sh [IMAGES]
set -eu
images=${1:-640}
eps=$(dirname "$0")/../build/eps
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
train() {
  OMP_NUM_THREADS=1 "$eps" --threads 1 train --out "$out/$1" --data synthetic:size=32,count=256 \
    --tasks random_inpainting --preset small --batch 32 --images "$images" --log-every 64 \
    --save-every "$images" --preview-images 0 --device cpu
}
train one
port=$((20000 + $$ % 20000))
RANK=1 WORLD_SIZE=2 MASTER_PORT=$port train two &
RANK=0 WORLD_SIZE=2 MASTER_PORT=$port train two
wait
"$eps" runs "$out/one" "$out/two"
