#!/bin/sh
# Spin tries every order in which a tile and two fallbacks can store and load a value's words: see tests/look_back.pml.
# It also tries every order in which lanes can load and store a tile that is scanned in place: see
# tests/ahead_in_place.pml. With the rules of kernels.cl.inc no order may fail. With each wrong rule one must fail, or
# the model sees nothing. The last line is "N passed, N failed"; without Spin nothing is done.

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/look-back
cc=${CC:-cc}
passed=0
failed=0

if ! command -v spin > /dev/null 2>&1; then
  echo 'left out: the model of the look-back, spin is not installed'
  echo '0 passed, 0 failed'
  exit 0
fi
mkdir -p "$work" && cd "$work" || exit 1

# model FILE right|wrong MACRO...: whether Spin finds no error, or one, where these are defined.
model() {
  file=$1
  wanted=$2
  shift 2
  rm -f pan pan.c
  if spin -a "$@" "$root/tests/$file.pml" > log.txt 2>&1 && "$cc" -O1 -w -DNP pan.c -o pan > log.txt 2>&1; then
    ./pan -l -m1000000 > log.txt 2>&1
  fi
  found=broken
  grep -q 'errors: 0' log.txt && ! grep -q 'max search depth too small' log.txt && found=right
  grep -q -E '^pan:.*(assertion violated|non-progress cycle)' log.txt && found=wrong
  if [ "$found" = "$wanted" ]; then
    passed=$((passed + 1))
    return
  fi
  failed=$((failed + 1))
  echo "FAILED: $file $* is $found instead of $wanted:"
  head -20 log.txt
}

sizes='2 3 4' # a run with --more has all, others one by their seed
[ "${GPUSCAN_TEST_SHARE:-1}" -gt 8 ] && sizes=$((2 + ${GPUSCAN_TEST_SEED:-0} % 3))
for words in $sizes; do
  for first in 0 1; do
    for place in 0 1; do
      model look_back right -DWORDS=$words -DFIRST=$first -DIN_PLACE=$place
    done
    model look_back wrong -DWORDS=$words -DFIRST=$first -DFAULT_RETURN
  done
  model look_back wrong -DWORDS=$words -DFIRST=1 -DIN_PLACE=1 -DFAULT_RECHECK
  model look_back wrong -DWORDS=$words -DFIRST=1 -DIN_PLACE=1 -DFAULT_ONE_SLOT
  model look_back wrong -DWORDS=$words -DFAULT_WRAP
done
model ahead_in_place right
model ahead_in_place wrong -DFAULT_ONE_POLLER
model ahead_in_place wrong -DFAULT_TWO_TAGS

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
