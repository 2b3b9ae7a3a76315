#!/bin/bash
# The program from the outside: pipelines with a number, and what bad input gets.
# Usage: cli_test.sh path/to/eps
set -u
eps=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# succeeds COMMAND...: exit 0 and nothing on stderr.
succeeds() {
  "$@" >out.txt 2>err.txt || fail "$* (exit $?): $(cat err.txt)"
  [ ! -s err.txt ] || fail "$*: stderr: $(cat err.txt)"
}

# refuses WORDS OUTPUT COMMAND...: exit 2, one line on stderr with the words in it, no output file.
refuses() {
  local words=$1 output=$2
  shift 2
  "$@" >out.txt 2>err.txt
  local code=$?
  [ $code -eq 2 ] || fail "$*: exit $code, wanted 2"
  [ "$(wc -l <err.txt)" -eq 1 ] || fail "$*: wanted one line, got: $(cat err.txt)"
  grep -qF -- "$words" err.txt || fail "$*: wanted \"$words\", got: $(cat err.txt)"
  [ ! -e "$output" ] || fail "$*: left $output behind"
  [ -z "$(find . -name '*.tmp*')" ] || fail "$*: left a temporary file behind"
}

same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

# npy SHAPE BYTES...: a float32 .npy of this shape on stdout, its data cut from the given hex digits.
npy() {
  local header="{'descr': '<f4', 'fortran_order': False, 'shape': ($1), }"
  local length=$(((10 + ${#header} + 1 + 63) / 64 * 64 - 10))
  printf '\x93NUMPY\x01\x00'
  printf "\\x$(printf %02x $((length % 256)))\\x$(printf %02x $((length / 256)))"
  printf '%-*s\n' $((length - 1)) "$header"
  printf "$2"
}
repeat() { for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done; }

one='\x00\x00\x80\x3f'
half='\x00\x00\x00\x3f'
nan='\x00\x00\xc0\x7f'
npy '1, 1, 4, 4' "$(repeat 16 "$one")" >ones.npy
npy '1, 1, 2, 2' "$(repeat 4 "$one")" >small.npy
npy '1, 1, 4, 4' "$(repeat 15 "$one")$half" >mixed.npy
npy '1, 1, 4, 4' "$(repeat 15 "$one")$nan" >nan.npy
head -c 150 ones.npy >short.npy
(cat ones.npy && printf 'x') >long.npy
echo 'not a picture' >text.png

# The average of ones is one, and its pseudo-inverse gives the ones back.
succeeds "$eps" operator super_resolution:factor=2 apply ones.npy pooled.npy
same pooled.npy small.npy
succeeds "$eps" operator super_resolution:factor=2 pinv small.npy again.npy
same again.npy ones.npy
# A pivot whose measurement agrees with x_t leaves it where it is; ridge at lambda 0 is pinv.
succeeds "$eps" operator super_resolution:factor=2 pivot ones.npy pivot.npy --measurement small.npy --sigma 3 --sigma-y 0.05
same pivot.npy ones.npy
succeeds "$eps" operator super_resolution:factor=2 ridge small.npy ridge.npy --lambda 0
same ridge.npy ones.npy

# One measurement without a batch goes back the way it came, with and without --shape.
npy '4, 4' "$(repeat 16 "$one")" >plane.npy
succeeds "$eps" operator fourier_lines:acceleration=1 apply plane.npy k.npy
succeeds "$eps" operator fourier_lines:acceleration=1 adjoint k.npy back.npy
succeeds "$eps" operator super_resolution:factor=2 apply plane.npy s.npy
succeeds "$eps" operator super_resolution:factor=2 pinv s.npy back.npy --shape 1 4 4
succeeds "$eps" operator matrix:rows=5 apply plane.npy m.npy
succeeds "$eps" operator matrix:rows=5 adjoint m.npy back.npy --shape 1 4 4

# What was drawn can be saved and used again; the seed decides what is drawn.
succeeds "$eps" operator inpaint_random:missing=0.5 apply ones.npy a.npy --seed 3 --save mask.npy
succeeds "$eps" operator inpaint_mask:file=mask.npy apply ones.npy b.npy
same a.npy b.npy
succeeds "$eps" operator inpaint_random:missing=0.5 apply ones.npy c.npy --seed 4
cmp -s a.npy c.npy && fail "seeds 3 and 4 drew the same mask"
succeeds "$eps" operator inpaint_random:missing=0.5 apply ones.npy d.npy --seed 3 --save mask.png
succeeds "$eps" operator inpaint_mask:file=mask.png apply ones.npy e.npy
same a.npy e.npy
succeeds "$eps" operator identity apply ones.npy x.safetensors#image
succeeds "$eps" operator identity apply x.safetensors y.npy
same y.npy ones.npy

succeeds "$eps" list
grep -q super_resolution_4x out.txt || fail "eps list does not name super_resolution_4x"
succeeds "$eps" --version
succeeds "$eps" --help

# A folder to an archive and back: the one picture that can be read, and the other one counted.
mkdir pictures nothing
cp mask.png pictures/a.png
cp text.png pictures/b.png
"$eps" dataset pack pictures pack.zip --size 8 >out.txt 2>err.txt || fail "dataset pack: $(cat err.txt)"
grep -q 'pack.zip: 1 images of 1 x 8 x 8, labels: none, skipped: 1' out.txt || fail "dataset pack: $(cat out.txt)"
grep -q 'skipped: pictures/b.png: not a PNG or JPEG' err.txt || fail "dataset pack: $(cat err.txt)"
succeeds "$eps" dataset pack pack.zip again.zip
same pack.zip again.zip
succeeds "$eps" dataset info synthetic:count=6,kind=shapes,size=8
grep -q 'labels   3 classes of 2 to 2 images' out.txt || fail "dataset info: $(cat out.txt)"
refuses 'nothing: holds no images' o.zip "$eps" dataset pack nothing o.zip
refuses 'absent.zip' o.zip "$eps" dataset pack absent.zip o.zip
refuses 'pictures/b.png: not a PNG or JPEG' o.zip "$eps" dataset pack pictures o.zip --strict
refuses 'must end in .zip' o.png "$eps" dataset pack pictures o.png
refuses 'is also one of the sources' o.zip "$eps" dataset pack pack.zip ./pack.zip
refuses 'text.png' o.zip "$eps" dataset info text.png
refuses 'did you mean "count"?' o.zip "$eps" dataset info synthetic:cuont=3

# Pictures of different sizes keep their sizes and their bytes.
mkdir -p sizes/deep
cp mask.png sizes/b.png
succeeds "$eps" dataset pack synthetic:count=1,size=8,channels=1,classes=0 eight.zip
refuses 'ask for a size' o.zip "$eps" dataset pack eight.zip sizes o.zip
succeeds "$eps" dataset pack eight.zip sizes any.zip --keep-size
grep -q 'any.zip: 2 pictures, 0 of them converted, skipped: 0' out.txt || fail "pack --keep-size: $(cat out.txt)"
succeeds "$eps" dataset info any.zip
grep -q 'sizes    4 to 8 wide, 4 to 8 high' out.txt || fail "dataset info: $(cat out.txt)"
grep -q 'images   2' out.txt || fail "dataset info: $(cat out.txt)"
grep -q 'area     0.0 megapixels' out.txt || fail "dataset info: $(cat out.txt)"
succeeds "$eps" dataset pack any.zip again.zip --keep-size
same any.zip again.zip
cp text.png sizes/deep/c.png
"$eps" dataset pack sizes any.zip --keep-size --channels 3 >out.txt 2>err.txt || fail "pack --keep-size: $(cat err.txt)"
grep -q 'any.zip: 1 pictures, 1 of them converted, skipped: 1' out.txt || fail "pack --keep-size: $(cat out.txt)"
refuses 'sizes/deep/c.png: not a PNG or JPEG' o.zip "$eps" dataset pack sizes o.zip --keep-size --strict
refuses "entry 'img00000000.png' is written twice" o.zip \
  "$eps" dataset pack synthetic:count=1 synthetic:count=2 o.zip --keep-size
succeeds "$eps" dataset pack synthetic:count=3,size=8 labelled.zip
refuses 'dataset.json with labels' o.zip "$eps" dataset pack synthetic:count=2 labelled.zip o.zip --keep-size
refuses '--size' o.zip "$eps" dataset pack sizes o.zip --keep-size --size 8

# Bad input: the thing, its value, what is wanted.
refuses 'absent.npy' o.npy "$eps" operator identity apply absent.npy o.npy
refuses 'short.npy' o.npy "$eps" operator identity apply short.npy o.npy
refuses 'long.npy' o.npy "$eps" operator identity apply long.npy o.npy
refuses 'nan.npy: 1 value is not finite, at [0, 0, 3, 3]' o.npy "$eps" operator identity apply nan.npy o.npy
refuses 'text.png: not a PNG or JPEG' o.npy "$eps" operator inpaint_mask:file=text.png apply ones.npy o.npy
refuses 'the mask has 4 x 4 pixels (width x height), the image 2 x 2' o.npy "$eps" operator inpaint_mask:file=mask.npy apply small.npy o.npy
refuses 'a mask holds 0 (missing) and 1 (observed), found 0.5' o.npy "$eps" operator inpaint_mask:file=mixed.npy apply ones.npy o.npy
refuses 'factor=3 does not divide an image of 4 x 4' o.npy "$eps" operator super_resolution:factor=3 apply ones.npy o.npy
refuses 'did you mean "inpaint_random"?); see eps list operators' o.npy "$eps" operator inpaint_radnom apply ones.npy o.npy
refuses 'did you mean "missing"?' o.npy "$eps" operator inpaint_random:mising=1 apply ones.npy o.npy
refuses '-1' o.npy "$eps" operator identity ridge ones.npy o.npy --lambda -1
refuses '--sigma' o.npy "$eps" operator identity pivot ones.npy o.npy --measurement ones.npy --sigma -2 --sigma-y 0.1
refuses '--sigma-y is wanted' o.npy "$eps" operator identity pivot ones.npy o.npy --measurement ones.npy --sigma 2
refuses 'small.npy: the measurement of an image of' o.npy "$eps" operator identity pivot ones.npy o.npy --measurement small.npy --sigma 2 --sigma-y 0.1
refuses 'nothing was drawn' o.npy "$eps" operator super_resolution:factor=2 apply ones.npy o.npy --save s.npy
refuses '.txt' o.txt "$eps" operator identity apply ones.npy o.txt
refuses 'no/such/folder' no/such/folder/o.npy "$eps" operator identity apply ones.npy no/such/folder/o.npy
refuses '--lambda is for ridge only' o.npy "$eps" operator identity apply ones.npy o.npy --lambda 3
refuses 'is a task; its operator is' o.npy "$eps" operator box_inpainting apply ones.npy o.npy
refuses 'a kernel of 100001 x 100001 does not fit' o.npy "$eps" operator blur_gaussian:size=100001 apply ones.npy o.npy
refuses 'top=2..4 must be one number' o.npy "$eps" operator inpaint_box:height=1,width=1,top=2..4 apply ones.npy o.npy
refuses 'o.txt' drawn.npy "$eps" operator inpaint_random apply ones.npy o.txt --save drawn.npy
refuses 'absent.safetensors' o.npy "$eps" denoise absent.safetensors ones.npy o.npy --sigma 1
refuses 'noise levels must be > 0' o.npy "$eps" denoise absent.safetensors ones.npy o.npy --sigma -1
refuses 'x.gif' x.gif "$eps" sample absent.safetensors --out x.gif
refuses '--seeds 5-2' x.npy "$eps" sample absent.safetensors --out x.npy --seeds 5-2
refuses '--eta: the solver heun' x.npy "$eps" sample absent.safetensors --out x.npy --eta 0.5
refuses 'device gpu: wanted auto, cpu' x.npy "$eps" sample absent.safetensors --out x.npy --device gpu
refuses 'transpose' o.npy "$eps" operator identity transpose ones.npy o.npy
refuses 'did you mean "verify"?' o.npy "$eps" vreify
refuses '--threads' o.npy "$eps" list --threads 0

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
