#!/bin/sh
# Robustness beyond the test programs: sh tests/trust.sh [--long]
#
# Short, in about a minute: the kept fuzzing inputs and ten seconds of new ones, the faults from the ICD
# loader's layer, machines that lack OpenCL. With --long, which takes three hours and a half: an hour of fuzzing of calls
# and one of blobs, twenty minutes of valid calls at random, every fault, 10,000 calls and 1,000 objects under
# LeakSanitizer and valgrind, threads under ThreadSanitizer, look-back past every kind of silent tile, races and memory in
# the Oclgrind simulator, static analysis, coverage, other machines. GPUSCAN_FUZZ_SECONDS sets another time than an hour.
#
# It runs on the OpenCL driver that OCL_ICD_VENDORS names, and is meant for PoCL. What has no tool here is named. The
# last line is "N passed, N failed".

long=
[ "$1" = --long ] && long=1
optimize= # a short run has less to compute than to compile
[ -n "$long" ] && optimize=-O1
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
work=$root/build/trust
mkdir -p "$work/calls" "$work/blobs" "$root/build/pocl" || exit 1
POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/build/pocl}
export POCL_CACHE_DIR
cc=${CC:-cc}
quick=$cc # of programs without sanitizers: clang takes a quarter of gcc's time without optimization
[ -z "$CC" ] && command -v clang > /dev/null 2>&1 && quick=clang
passed=0
failed=0
libraries='-lcmocka -lOpenCL -lm -lpthread -ldl'

have() {
  command -v "$1" > /dev/null 2>&1
}

# check NAME COMMAND...: the command succeeds.
check() {
  name=$1
  shift
  log=$work/$(echo "$name" | tr ' ' '-').txt
  started=$(date +%s)
  if "$@" > "$log" 2>&1; then
    passed=$((passed + 1))
    echo "$name: passed ($(($(date +%s) - started)) s)"
  else
    failed=$((failed + 1))
    echo "FAILED: $name: $*"
    grep -E -A6 'ERROR|FAILED|WARNING: ThreadSan|runtime error|LeakSanitizer|finding' "$log" | head -30
    tail -3 "$log"
  fi
}

# build NAME COMPILER OPTIONS...: tests/NAME.c into the work folder.
# shellcheck disable=SC2086 # the libraries are many words
build() {
  source=$1
  shift
  check "compile $source" "$@" -std=c99 $optimize "tests/$source.c" -o "$work/$source" $libraries
}

left_out() {
  echo "left out: $1"
}

# What drivers and their compilers leave behind, and do among themselves, is not ours.
printf 'leak:%s\n' libpocl RusticlOpenCL libLLVM libclang libOpenCL ld-linux dlopen libstdc++ > "$work/leaks.txt"
cat > "$work/races.txt" << 'END_OF_LIST'
race:libpocl
race:libLLVM
race:libclang
race:libstdc++
race:libOpenCL
called_from_lib:libpocl.so.2
called_from_lib:libpocl-devices-pthread.so
mutex:libpocl
deadlock:libpocl
thread:libpocl
signal:libpocl
END_OF_LIST
LSAN_OPTIONS=suppressions=$work/leaks.txt:print_suppressions=0
TSAN_OPTIONS=suppressions=$work/races.txt:ignore_noninstrumented_modules=1:halt_on_error=1
export LSAN_OPTIONS TSAN_OPTIONS

# ---- fuzzing -----------------------------------------------------------------------------------------------------------

sanitize='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { (void)d; (void)n; return 0; }' > "$work/try.c"
fuzzer=
have clang && clang -fsanitize=fuzzer,address "$work/try.c" -o "$work/try" 2> /dev/null && fuzzer=1
# shellcheck disable=SC2086
$cc $sanitize -c "$work/try.c" -o "$work/try.o" 2> /dev/null || sanitize=

# New inputs by libFuzzer, from the kept ones on: fuzz_long NAME SECONDS
fuzz_long() {
  # shellcheck disable=SC2086 # the sanitizers are many words
  build "fuzz_$1" clang -g -fsanitize=fuzzer $sanitize
  check "fuzz $1 for $2 s" new_inputs "$1" "$2"
}

# A finding is cut down, which takes some minutes, and run once more: its log ends with the least that fails.
new_inputs() {
  options='-max_len=400 -len_control=0 -timeout=120 -rss_limit_mb=8000'
  rm -f "$work/$1"-crash-* "$work/$1-least"
  # shellcheck disable=SC2086 # the options are many words
  "$work/fuzz_$1" "-max_total_time=$2" $options "-artifact_prefix=$work/$1-" "$work/$1" "tests/corpus/$1" && return 0
  for finding in "$work/$1"-crash-*; do
    [ -e "$finding" ] || return 1
    "$work/fuzz_$1" -minimize_crash=1 -max_total_time=120 -timeout=120 "-exact_artifact_path=$work/$1-least" \
      "$finding" > /dev/null 2>&1
    [ -e "$work/$1-least" ] || cp "$finding" "$work/$1-least"
    GPUSCAN_FUZZ_TRACE=1 "$work/fuzz_$1" "$work/$1-least"
  done
  return 1
}

# The kept inputs, and then plain random ones: fuzz_short NAME SECONDS
fuzz_short() {
  # shellcheck disable=SC2086
  build "fuzz_$1" "$cc" -g $sanitize -DFUZZ_MAIN
  # shellcheck disable=SC2016 # $0 to $3 are the inner shell's
  check "fuzz $1 for $2 s" env GPUSCAN_FUZZ_SHORT=1 sh -c 'cd "$0" && exec "./$1" "$2" "$3"/*' \
    "$work" "fuzz_$1" "$2" "$root/tests/corpus/$1"
}

ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
seconds=${GPUSCAN_FUZZ_SECONDS:-3600}
if [ -z "$long" ]; then
  fuzz_short calls 5
  fuzz_short blobs 4
elif [ -n "$fuzzer" ]; then
  fuzz_long calls "$seconds"
  fuzz_long blobs "$seconds"
else
  left_out "libFuzzer, for want of clang -fsanitize=fuzzer: plain random inputs instead"
  fuzz_short calls "$seconds"
  fuzz_short blobs "$seconds"
fi
unset ASAN_OPTIONS

# ---- faults from outside -----------------------------------------------------------------------------------------------

if echo '#include <CL/cl_layer.h>' > "$work/try.c" && $cc -fsyntax-only "$work/try.c" 2> /dev/null; then
  check 'compile cl_layer' "$quick" -std=c99 $optimize -shared -fPIC tests/cl_layer.c -o "$work/layer.so"
  build under_layer "$quick"
  check 'faults from the loader' env OPENCL_LAYERS="$work/layer.so" GPUSCAN_TEST_LONG="${long:-0}" \
    "$work/under_layer"
  grep -q SKIPPED "$work/faults-from-the-loader.txt" && left_out "faults from the loader, which knows no layers"
else
  left_out 'faults from the loader, for want of CL/cl_layer.h (opencl-c-headers)'
fi

# ---- machines that lack something --------------------------------------------------------------------------------------

sh tests/elsewhere.sh ${long:+--long} > "$work/elsewhere.txt" 2>&1
grep -E -A5 '^FAILED|^left out' "$work/elsewhere.txt"
# shellcheck disable=SC2046
set -- $(tail -1 "$work/elsewhere.txt")
passed=$((passed + ${1:-0}))
failed=$((failed + ${3:-1}))

# ---- races and memory, in a simulator ----------------------------------------------------------------------------------

# simulate LABEL PROGRAM: every operation with every strategy in Oclgrind; what it reports goes to a file of its own.
# Fails where it reports anything, or a result is wrong.
simulate() {
  reports=$work/reports-$1.txt
  rm -f "$reports"
  GPUSCAN_TEST_SIZE=small oclgrind --data-races --uninitialized --check-api --max-errors 20 --log "$reports" "$2" ||
    return 1
  [ ! -s "$reports" ] || { cat "$reports"; return 1; }
}

# find_planted LABEL PLANT WHAT: with this mistake in the kernels (see test_plants.c) the same command reports it.
find_planted() {
  if ! grep -q "GPUSCAN_PLANTED($2)" kernels.cl.inc; then
    echo 'FAILED: no such plant'
    return 1
  fi
  if GPUSCAN_TEST_PLANT=$2 GPUSCAN_TEST_ONLY=operations simulate "planted-$1" "$work/smoke"; then
    echo 'FAILED: not found'
    return 1
  fi
  grep -q "$3" "$work/reports-planted-$1.txt"
}

# Groups of 1, 32, 64 and the largest; local memory as it is, 16 and 1 KiB; with and without 64-bit atomics and doubles.
simulations() {
  # shellcheck disable=SC2086
  check 'compile for the simulator' $cc -std=c99 $optimize tests/test_smoke.c -o "$work/smoke" $libraries
  for each in '0 0 0' '1 0 0' '32 0 0' '64 0 0' '0 16384 0' '0 1024 0' '0 0 3' '64 1024 3' '1 1024 3'; do
    # shellcheck disable=SC2086
    set -- $each
    GPUSCAN_TEST_GROUP=$1 GPUSCAN_TEST_LOCAL=$2 GPUSCAN_TEST_WITHOUT=$3
    export GPUSCAN_TEST_GROUP GPUSCAN_TEST_LOCAL GPUSCAN_TEST_WITHOUT
    check "Oclgrind, groups of $1, $2 bytes of local memory, without $3" simulate "$1-$2-$3" "$work/smoke"
  done
  unset GPUSCAN_TEST_GROUP GPUSCAN_TEST_LOCAL GPUSCAN_TEST_WITHOUT
  check 'Oclgrind finds a planted race' find_planted race BARRIER 'data race'
  check 'Oclgrind finds a planted race of counts' find_planted counts BARRIER_COUNTS 'data race'
  check 'Oclgrind finds a planted overrun' find_planted overrun REDUCE_OVERRUN 'Invalid write'
}

# ---- the long part -----------------------------------------------------------------------------------------------------

if [ -n "$long" ]; then
  # shellcheck disable=SC2086
  check 'compile test_trust' $cc -std=c99 -g $optimize tests/test_trust.c -o "$work/trust" $libraries
  check 'test_trust, all of it' env GPUSCAN_TEST_LONG=1 "$work/trust"
  # shellcheck disable=SC2086
  check 'compile test_pairs' $cc -std=c99 -g $optimize tests/test_pairs.c -o "$work/pairs" $libraries
  check 'calls at random' env GPUSCAN_TEST_SHARE=6 GPUSCAN_TEST_SECONDS=$((seconds / 12)) "$work/pairs"
  if [ -n "$sanitize" ]; then
    # shellcheck disable=SC2086
    check 'compile for leaks' $cc -std=c99 -g $optimize $sanitize tests/test_trust.c -o "$work/trust-leaks" $libraries
    check 'leaks, LeakSanitizer' env GPUSCAN_TEST_LONG=1 GPUSCAN_TEST_ONLY='*many_*' "$work/trust-leaks"
  else
    left_out "leaks, $cc has no -fsanitize=address"
  fi
  if have valgrind; then
    # the driver and its compiler have findings of their own: only what names the library counts
    check 'leaks, valgrind' env GPUSCAN_TEST_SIZE=small GPUSCAN_TEST_ONLY='*many_*' valgrind --quiet \
      --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=none --log-file="$work/valgrind.txt" \
      "$work/trust"
    if grep -q 'gpuscan' "$work/valgrind.txt"; then
      failed=$((failed + 1))
      echo "FAILED: valgrind names gpuscan in $work/valgrind.txt"
    fi
  else
    left_out 'leaks under valgrind, which is not installed'
  fi
  if have clang && clang -fsanitize=thread -c "$work/try.c" -o "$work/try.o" 2> /dev/null; then
    # shellcheck disable=SC2086
    check 'compile for races' clang -std=c99 -g $optimize -fsanitize=thread tests/test_trust.c -o "$work/trust-races" $libraries
    check 'races, ThreadSanitizer' env GPUSCAN_TEST_ONLY='*threads*' "$work/trust-races"
  else
    left_out 'races, for want of clang -fsanitize=thread'
  fi
  if have oclgrind; then
    simulations
  else
    left_out 'races and memory in the Oclgrind simulator, which is not installed'
  fi
  check 'static analysis' sh tests/analyze.sh
  check 'coverage' sh tests/coverage.sh
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
