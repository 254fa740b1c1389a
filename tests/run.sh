#!/bin/sh
# Runs all tests: sh tests/run.sh
#
# Installs what they need (tools/setup), compiles each tests/test_*.c into build/tests/, runs tests/compile.sh and the
# other scripts, and then every program on every OpenCL implementation of this machine: fully on PoCL and on devices
# with drivers of their own; with fewer and smaller sizes on the Oclgrind simulator, which looks for races,
# uninitialised values and wrong API calls, on rusticl's llvmpipe and on Intel's CPU runtime. The faults run once more
# under the address and undefined behaviour sanitizers.
#
# By default on PoCL, with the compile tests and the scripts.
#
#   --all     on every implementation that is here
#   --long    the same, everything at its full size, which takes hours
#
# All that is written lies in build/. The last line is "N passed, N failed", with ", N skipped" where tests were; the
# status is 0 when none failed.

case $1 in
  '') long=0 everywhere= ;;
  --all) long=0 everywhere=1 ;;
  --long) long=1 everywhere=1 ;;
  *) echo "usage: sh tests/run.sh [--all | --long]" >&2; exit 2 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$root/build/tests
cc=${CC:-cc}
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef -Wstrict-prototypes
  -Wc++-compat -Werror'

mkdir -p "$work/logs" "$root/build/pocl" || exit 1
rm -f "$work"/logs/* "$work/totals.txt"
: > "$work/totals.txt"
POCL_CACHE_DIR=$root/build/pocl
GPUSCAN_TEST_LONG=$long
export POCL_CACHE_DIR GPUSCAN_TEST_LONG

say() {
  printf '%s\n' "$*"
}

seconds() {
  date +%s
}

# One line of the sum: passed, failed, skipped.
count() {
  echo "$1 $2 $3" >> "$work/totals.txt"
}

# ---- what is needed ----------------------------------------------------------------------------------------------------

say "gpuscan's tests: compile tests, then every test program on every OpenCL implementation of this machine."
sh tools/setup tests || exit 1

# ---- programs ----------------------------------------------------------------------------------------------------------

say 'compiling the test programs'
build() {
  program=$1
  source=$2
  shift 2
  # shellcheck disable=SC2086
  if ! "$cc" -std=c99 -O2 $warnings "$@" "$source" -o "$work/$program" -lcmocka -lOpenCL -lm -lpthread -ldl \
    > "$work/logs/$program-compile.txt" 2>&1; then
    say "FAILED: $source does not compile:"
    head -20 "$work/logs/$program-compile.txt"
    rm -f "$work/$program"
    count 0 1 0
  fi
}

programs=
for source in tests/test_*.c; do
  program=$(basename "$source" .c)
  build "$program" "$source" &
  programs="$programs $program"
  # two at a time
  if [ -n "$pending" ]; then wait; pending=''; else pending=1; fi
done
wait
sanitized=
if echo 'int main(void) { return 0; }' > "$work/empty.c" &&
  "$cc" -fsanitize=address,undefined "$work/empty.c" -o "$work/empty" 2> /dev/null && "$work/empty"; then
  sanitized=1
  build test_faults-sanitized tests/test_faults.c -g -fsanitize=address,undefined -fno-sanitize-recover=all
else
  say "left out: $cc has no -fsanitize=address,undefined"
fi

# What trust.sh runs, which says by itself how.
trust() {
  log=$work/logs/trust.sh.txt
  started=$(seconds)
  if [ "$long" = 1 ]; then sh tests/trust.sh --long > "$log" 2>&1; else sh tests/trust.sh > "$log" 2>&1; fi
  last=$(tail -1 "$log")
  case $last in
    *' passed, '*' failed') ;;
    *) last='0 passed, 1 failed' ;;
  esac
  say "trust.sh: $last ($(($(seconds) - started)) s)"
  grep -E -A8 '^FAILED' "$log" | head -60 | sed 's/^/  /'
  grep '^left out' "$log" | sed 's/^/  /'
  # shellcheck disable=SC2086
  set -- $last
  count "$1" "$3" 0
}

# ---- one run -----------------------------------------------------------------------------------------------------------

# run LABEL PROGRAM [COMMAND...]: the program behind the command, its cmocka totals added to the sum.
run() {
  label=$1
  program=$2
  shift 2
  log=$work/logs/$label-$program.txt
  [ -x "$work/$program" ] || return
  started=$(seconds)
  "$@" "$work/$program" > "$log" 2>&1
  status=$?
  passed=$(grep -c '^\[       OK \]' "$log")
  planned=$(sed -n 's/^\[=*\].* Running \([0-9]*\) test(s).*/\1/p' "$log" | head -1)
  skipped=$(sed -n 's/^\[  SKIPPED \].* \([0-9]*\) test(s), listed below.*/\1/p' "$log" | tail -1)
  planned=${planned:-$((passed + 1))} # a program that says nothing has failed
  skipped=${skipped:-0}
  failed=$((planned - passed - skipped))
  # a crash after the last test, or a sanitizer's report
  [ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
  count "$passed" "$failed" "$skipped"
  line="$label: ${program#test_}: $passed passed, $failed failed"
  [ "$skipped" -gt 0 ] && line="$line, $skipped skipped"
  say "$line ($(($(seconds) - started)) s)"
  if [ "$failed" -gt 0 ]; then
    say "  status $status; from $log:"
    grep -E -A3 '^\[  ERROR|^\[  FAILED|ERROR: |runtime error|no device|no object' "$log" | head -30 | sed 's/^/  /'
  fi
}

# all LABEL [COMMAND...]
all() {
  all_label=$1
  shift
  for each in $programs; do
    [ "$each" = test_faults ] && [ "$all_label" = pocl ] && [ -n "$sanitized" ] && continue
    run "$all_label" "$each" "$@"
  done
}

# ---- implementations ---------------------------------------------------------------------------------------------------

# A folder with one driver's .icd file, for OCL_ICD_VENDORS.
only() {
  mkdir -p "$work/icd/$1"
  rm -f "$work/icd/$1"/*
  printf '%s\n' "$2" > "$work/icd/$1/$1.icd"
  echo "$work/icd/$1/"
}

on_pocl() {
  OCL_ICD_VENDORS=$(only pocl "$1")
  export OCL_ICD_VENDORS
  all pocl
  trust
  if [ -n "$sanitized" ]; then
    # what drivers and compilers leave behind is not ours
    printf 'leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\nleak:ld-linux\nleak:dlopen\n' > "$work/leaks.txt"
    ASAN_OPTIONS=detect_odr_violation=0 LSAN_OPTIONS=suppressions=$work/leaks.txt:print_suppressions=0 \
      run pocl test_faults-sanitized
  fi
}

# The simulator reports to a file; a report is a failure even where the results are right.
on_oclgrind() {
  GPUSCAN_TEST_SIZE=small
  export GPUSCAN_TEST_SIZE
  for each in $programs; do
    reports=$work/logs/oclgrind-$each-reports.txt
    run oclgrind "$each" oclgrind --data-races --uninitialized --check-api --max-errors 100 --log "$reports"
    if [ -s "$reports" ]; then
      say "FAILED: oclgrind: ${each#test_}: reports in $reports:"
      head -20 "$reports" | sed 's/^/  /'
      count 0 1 0
    fi
  done
}

on_rusticl() {
  OCL_ICD_VENDORS=$(only rusticl "$1")
  RUSTICL_ENABLE=llvmpipe
  GPUSCAN_TEST_SIZE=small
  export OCL_ICD_VENDORS RUSTICL_ENABLE GPUSCAN_TEST_SIZE
  all rusticl
}

# Intel's CPU runtime comes from PyPI, into a folder of its own.
on_intel() {
  venv=$root/build/intel
  library=$venv/lib/libintelocl.so
  if [ ! -e "$library" ]; then
    # the second has libimf and libsvml, which the first needs and does not name
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt; } \
      > "$work/logs/intel-setup.txt" 2>&1; then
      say "left out: Intel's CPU runtime, which pip could not install (see $work/logs/intel-setup.txt)"
      return
    fi
  fi
  OCL_ICD_VENDORS=$(only intel "$library")
  LD_LIBRARY_PATH=$venv/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  GPUSCAN_TEST_SIZE=small
  export OCL_ICD_VENDORS LD_LIBRARY_PATH GPUSCAN_TEST_SIZE
  all intel
}

on_driver() {
  OCL_ICD_VENDORS=$(only "$1" "$2")
  export OCL_ICD_VENDORS
  if "$work/test_$3" 2>&1 | grep -q 'no device'; then
    say "left out: $1, which has no device here"
  else
    all "$1"
  fi
}

# ---- all of it ---------------------------------------------------------------------------------------------------------

scripts() {
  for script in tests/compile.sh tests/test_*.sh; do
    log=$work/logs/$(basename "$script").txt
    started=$(seconds)
    sh "$script" > "$log" 2>&1
    last=$(tail -1 "$log")
    case $last in
      *' passed, '*' failed') ;;
      *) last='0 passed, 1 failed' ;;
    esac
    say "$(basename "$script"): $last ($(($(seconds) - started)) s)"
    grep -E -A8 '^FAILED|^not ok' "$log" | head -60 | sed 's/^/  /'
    grep '^left out' "$log" | sed 's/^/  /'
    # shellcheck disable=SC2086
    set -- $last
    count "$1" "$3" 0
  done
}

drivers() {
  for icd in /etc/OpenCL/vendors/*.icd; do
    [ -e "$icd" ] || continue
    library=$(head -1 "$icd")
    name=$(basename "$icd" .icd)
    case $library in
      *pocl*) ;;
      *usticl*) (on_rusticl "$library") ;;
      *) (on_driver "$name" "$library" reduce) ;;
    esac
  done
  if command -v oclgrind > /dev/null 2>&1; then (on_oclgrind); else say 'left out: oclgrind is not installed'; fi
  if [ "$(uname -m)" = x86_64 ]; then (on_intel); else say "left out: Intel's CPU runtime, this is no x86-64"; fi
}

pocl=libpocl.so.2
for icd in /etc/OpenCL/vendors/*.icd; do
  [ -e "$icd" ] && grep -q pocl "$icd" && pocl=$(head -1 "$icd")
done
# two at a time here, too: most tests wait for the host
say 'running'
{ scripts; [ -z "$everywhere" ] || drivers; } &
(on_pocl "$pocl")
wait

awk '{ p += $1; f += $2; s += $3 }
     END { printf "%d passed, %d failed", p, f; if (s) printf ", %d skipped", s; print ""; exit f > 0 || p == 0 }' \
  "$work/totals.txt"
