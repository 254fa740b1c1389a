#!/bin/sh
# Coverage of the host logic: sh tests/coverage.sh [PROGRAM...]
#
# Compiles the test programs (or those that are named: scan, faults, ...) with gcc --coverage, runs them on PoCL at small
# sizes, and says how many lines and branches of gpuscan.h's implementation were executed, summed over all programs, and
# which never were. What no test can reach is in the list below, with its reason; the status is 0 when nothing else is
# left. Some tests take a share of their cases, by a seed: here a sixth (GPUSCAN_TEST_SHARE), always the same unless
# GPUSCAN_TEST_SEED says another. It takes five minutes of a core that is free, and says how long it took.

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/coverage
mkdir -p "$work" "$root/build/pocl" || exit 1
POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/build/pocl}
GPUSCAN_TEST_SIZE=small
GPUSCAN_TEST_SEED=${GPUSCAN_TEST_SEED:-1}
GPUSCAN_TEST_SHARE=${GPUSCAN_TEST_SHARE:-6}
export POCL_CACHE_DIR GPUSCAN_TEST_SIZE GPUSCAN_TEST_SEED GPUSCAN_TEST_SHARE
started=$(date +%s)
gcov=${GCOV:-gcov}
if ! command -v gcc > /dev/null || ! command -v "$gcov" > /dev/null; then
  echo "left out: coverage needs gcc and gcov"
  exit 0
fi
cd "$work" || exit 1
rm -f ./*.gcda ./*.gcno ./*.gcov.txt failed.txt
: > all.txt

# the longest first
[ $# -gt 0 ] || set -- faults scan $(cd "$root/tests" && ls test_*.c | sed 's/^test_//; s/\.c$//; /^faults$/d; /^scan$/d')
cat > one.sh << 'END_OF_SCRIPT'
gcc -std=c99 -O0 -g --coverage "$root/tests/test_$1.c" -o "cover-$1" -lcmocka -lOpenCL -lm -lpthread -ldl \
  2> "$1-compile.txt" || { echo "FAILED: test_$1.c does not compile"; exit 255; }
case $1 in
  faults) unset GPUSCAN_TEST_SIZE ;; # at small sizes it leaves out most faults
  lanes) unset GPUSCAN_TEST_SIZE ;;  # at small sizes it runs what only simulators get through
esac
"./cover-$1" > "$1.txt" 2>&1 || echo "FAILED: test_$1: status $?" | tee -a failed.txt
END_OF_SCRIPT
export root
# shellcheck disable=SC2016
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)" -I '{}' sh one.sh '{}' || exit 1
# host logic for devices that are not here; and the loader that opens the library at run time
mkdir -p programs
gcc -std=c99 -O0 -g --coverage "$root/tests/programs.c" -o cover-programs -ldl && ./cover-programs programs > programs.txt ||
  echo "FAILED: programs: status $?" | tee -a failed.txt
gcc -std=c99 -O0 -g --coverage -x c - -o cover-loader -ldl << END_OF_C
#define _GNU_SOURCE
#define GPUSCAN_IMPLEMENTATION
#include "$root/gpuscan.h"
#include <dlfcn.h>
static const char *instead; /* of the loader: another library, or none */
void *dlopen(const char *name, int flags) {
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return instead && !*instead ? NULL : next(instead ? instead : name, flags);
}
int main(void) {
    gpuscan *gs = 0;
    gpuscan_desc desc = {0};
    gpuscan_result r = gpuscan_create(&gs, 0);
    gpuscan_destroy(gs);
    desc.device_name = "no device has this name";
    if (r != 0 || gpuscan_create(&gs, &desc) != GPUSCAN_ERROR_NO_DEVICE)
        return 1;
    instead = "libm.so.6";
    if (gpuscan_create(&gs, &desc) != GPUSCAN_ERROR_NO_OPENCL)
        return 1;
    instead = "";
    return gpuscan_create(&gs, &desc) != GPUSCAN_ERROR_NO_OPENCL;
}
END_OF_C
./cover-loader || echo "FAILED: loader: status $?" | tee -a failed.txt
for data in cover-*.gcda; do
  # branch lines follow their line: "branch 0 taken 3", "branch 1 never executed"
  "$gcov" --stdout --branch-counts --branch-probabilities "$data" 2> /dev/null |
    awk '/^ *-: *0:Source:/ { in_header = /gpuscan\.h$/ } in_header' >> all.txt
done

# Lines that no test reaches, or not with all their branches, by a part of their text, and why. One a line:
# text | reason.
cat > unreached.txt << 'END_OF_LIST'
case GPUSCAN_OP_COUNT: break; | is no operator: there for compilers that ask for every enumerator
        switch (op) { | nor is anything else
if ((r = plan->operation->resolve(gs, plan)) != 0 || (r = plan->operation->choose(gs, plan)) != 0 || | a self-test: its elements and its key are those of a call that both have taken
END_OF_LIST

awk -v list=unreached.txt '
  BEGIN { while ((getline line < list) > 0) { split(line, part, " [|] "); reasons[++known] = part[1] } }
  /^ *[0-9#=*-]+\*?: *[0-9]+:/ {
    n = split($0, field, ":")
    count = field[1]; gsub(/[ *]/, "", count)
    line = field[2] + 0
    if (line == 0 || count == "-") { line = 0; next }
    code = $0; sub(/^[^:]*:[^:]*:/, "", code)
    text[line] = code
    hits[line] += count ~ /^[#=]/ ? 0 : count + 0
    b = 0
    next
  }
  function is_explained(l,  r) {
    for (r = 1; r <= known; r++) if (index(text[l], reasons[r])) return 1
    return 0
  }
  /^branch/ && line > 0 {
    key = line "," b++
    branches[key] += /never executed/ ? 0 : $4 + 0
    next
  }
  END {
    for (l = 1; l < 100000; l++) {
      if (!(l in hits)) continue
      why = is_explained(l)
      lines++
      if (hits[l] > 0) done++
      else if (why) explained++
      else { left++; printf "never executed: %d:%s\n", l, text[l] }
      for (b = 0; (l "," b) in branches; b++) {
        all++
        if (branches[l "," b] > 0) taken++
        else if (why) explained++
        else if (hits[l] > 0) { left++; printf "never taken: branch %d of %d:%s\n", b, l, text[l] }
      }
    }
    printf "lines: %d of %d (%.1f %%); branches: %d of %d (%.1f %%); explained: %d\n", done, lines,
      100 * done / lines, taken, all, 100 * taken / all, explained
    exit left > 0
  }' all.txt
status=$?
echo "$(($(date +%s) - started)) seconds"
[ "$status" -eq 0 ] && [ ! -e failed.txt ]
