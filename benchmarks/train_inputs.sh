#!/bin/sh
# Trains EPS and Palette on the same data, start, batches, noise and number of images, under both
# preconditionings, and prints the validation loss by noise level as a table.
#
#   benchmarks/train_inputs.sh OUT IMAGES VALIDATION.zip TRAIN.zip...
set -eu
out=$1 images=$2 validation=$3
shift 3
eps=$(dirname "$0")/../build/eps
runs=""
for preconditioning in edm anisotropic; do
  for input in palette eps; do
    run=$out/$input-$preconditioning
    "$eps" train --out "$run" --data "$@" --validation "$validation" --input $input --tasks all \
      --preset small --preconditioning $preconditioning --precision bfloat16 \
      --p-mean -0.4 --p-std 1.6 --batch 256 --learning-rate 5e-4 --beta2 0.99 --rampup 30000 \
      --ema-halflife 20000 --images "$images" --validate-every $((images / 4)) \
      --save-every "$images" --preview-every "$images" ${EPS_TRAIN_FLAGS:-}
    runs="$runs $run"
  done
done
# shellcheck disable=SC2086  # a list
"$eps" runs $runs
