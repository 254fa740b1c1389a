#!/bin/sh
# Runs all tests: sh tests/run.sh
#
# Installs what they need (tools/setup), compiles each tests/test_*.c into build/tests/, and runs them, tests/compile.sh
# and the other scripts: all tests on PoCL and on devices with drivers of their own; a part of them, test_smoke, on the
# Oclgrind simulator, which looks for races, uninitialised values and wrong API calls, on rusticl's llvmpipe and on
# Intel's CPU runtime, which compile or run more slowly. The faults run under the address and undefined behaviour
# sanitizers. Of tests that would build a program for each of many combinations a run takes a share; which one the seed
# decides that each program prints, and GPUSCAN_TEST_SEED repeats it.
#
#   --all     all tests on every implementation that is here: an hour and a half on two cores
#   --long    the same, with every combination at its full size, which takes hours
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
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
    # A crash after the last test, or a sanitizer's report. LeakSanitizer may crash by itself at the end, over a driver's
    # threads: it has looked for nothing then.
    if grep -q 'LeakSanitizer has encountered a fatal error' "$log" &&
      ! grep -q -E 'ERROR: [A-Za-z]*Sanitizer|runtime error' "$log"; then
      skipped=$((skipped + 1))
      say "left out: the search for leaks of ${program#test_}, in which LeakSanitizer itself crashed"
    else
      failed=1
    fi
  fi
  count "$passed" "$failed" "$skipped"
  line="$label: ${program#test_}: $passed passed, $failed failed"
  [ "$skipped" -gt 0 ] && line="$line, $skipped skipped"
  say "$line ($(($(seconds) - started)) s)"
  if [ "$failed" -gt 0 ]; then
    say "  status $status; from $log:"
    grep -E -A3 '^\[  ERROR|^\[  FAILED|ERROR: |runtime error|no device|no object' "$log" | head -30 | sed 's/^/  /'
    # a signal's status: the last words of whoever gave up
    [ "$status" -gt 128 ] && tail -12 "$log" | cut -c 1-300 | sed 's/^/  /'
  fi
}

# ---- implementations ---------------------------------------------------------------------------------------------------

# A folder with one driver's .icd file, for OCL_ICD_VENDORS.
only() {
  mkdir -p "$work/icd/$1"
  printf '%s\n' "$2" > "$work/icd/$1/$1.icd"
  echo "$work/icd/$1/"
}

# The on_ functions run one program in one implementation; the driver's library is their second argument.

on_pocl() {
  OCL_ICD_VENDORS=$(only pocl "$2")
  export OCL_ICD_VENDORS
  # what drivers and compilers leave behind is not ours
  printf 'leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\nleak:ld-linux\nleak:dlopen\n' > "$work/leaks.txt"
  ASAN_OPTIONS=detect_odr_violation=0
  LSAN_OPTIONS=suppressions=$work/leaks.txt:print_suppressions=0
  export ASAN_OPTIONS LSAN_OPTIONS
  run pocl "$1"
}

on_pocl_script() {
  OCL_ICD_VENDORS=$(only pocl "$2")
  export OCL_ICD_VENDORS
  script "$1" ${3:+"$3"}
}

# The simulator reports to a file; a report is a failure even where the results are right.
on_oclgrind() {
  GPUSCAN_TEST_SIZE=small
  export GPUSCAN_TEST_SIZE
  reports=$work/logs/oclgrind-$1-reports.txt
  run oclgrind "$1" oclgrind --data-races --uninitialized --check-api --max-errors 100 --log "$reports"
  if [ -s "$reports" ]; then
    say "FAILED: oclgrind: ${1#test_}: reports in $reports:"
    head -20 "$reports" | sed 's/^/  /'
    count 0 1 0
  fi
}

on_rusticl() {
  OCL_ICD_VENDORS=$(only rusticl "$2")
  RUSTICL_ENABLE=llvmpipe
  GPUSCAN_TEST_SIZE=small
  export OCL_ICD_VENDORS RUSTICL_ENABLE GPUSCAN_TEST_SIZE
  run rusticl "$1"
}

on_intel() {
  OCL_ICD_VENDORS=$(only intel "$2")
  LD_LIBRARY_PATH=$work/intel/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  GPUSCAN_TEST_SIZE=small
  export OCL_ICD_VENDORS LD_LIBRARY_PATH GPUSCAN_TEST_SIZE
  run intel "$1"
}

# A driver of a device of its own; its third argument is a name for it.
on_driver() {
  OCL_ICD_VENDORS=$(only "$3" "$2")
  export OCL_ICD_VENDORS
  run "$3" "$1"
}

has_device() {
  OCL_ICD_VENDORS=$(only "$1" "$2") GPUSCAN_TEST_ONLY=none "$work/test_smoke" 2>&1 | grep -q 'no device' && return 1
  return 0
}

# Intel's CPU runtime comes from PyPI, into a folder of its own; the second package has libimf and libsvml, which the
# first needs and does not name.
install_intel() {
  intel=$work/intel/lib/libintelocl.so
  if [ "$(uname -m)" != x86_64 ]; then
    say "left out: Intel's CPU runtime, this is no x86-64"
  elif [ ! -e "$intel" ] &&
    ! { python3 -m venv "$work/intel" && "$work/intel/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt; } \
      > "$work/logs/intel-setup.txt" 2>&1; then
    say "left out: Intel's CPU runtime, which pip could not install (see $work/logs/intel-setup.txt)"
  else
    return 0
  fi
  return 1
}

# script FILE [OPTION]: one that prints "N passed, N failed" last.
script() {
  log=$work/logs/$(basename "$1").txt
  started=$(seconds)
  sh "$@" > "$log" 2>&1
  last=$(tail -1 "$log")
  case $last in
    *' passed, '*' failed') ;;
    *) last='0 passed, 1 failed' ;;
  esac
  say "$(basename "$1"): $last ($(($(seconds) - started)) s)"
  grep -E -A8 '^FAILED|^not ok' "$log" | head -60 | sed 's/^/  /'
  grep '^left out' "$log" | sed 's/^/  /'
  # shellcheck disable=SC2086
  set -- $last
  count "$1" "$3" 0
}

# ---- all of it: a list of jobs, the longest first, and a worker for each core ------------------------------------------

: > "$work/jobs.txt"
job() {
  echo "$*" >> "$work/jobs.txt"
}

pocl=libpocl.so.2
drivers=
for icd in /etc/OpenCL/vendors/*.icd; do
  [ -e "$icd" ] || continue
  library=$(head -1 "$icd")
  name=$(basename "$icd" .icd)
  case $library in
    *pocl*) pocl=$library ;;
    *usticl*) drivers="$drivers on_rusticl:$library:$name" ;;
    *)
      if has_device "$name" "$library"; then
        drivers="$drivers on_driver:$library:$name"
      else
        say "left out: $name, which has no device here"
      fi
      ;;
  esac
done
for program in $programs; do
  [ "$program" = test_faults ] && [ -n "$sanitized" ] && program=test_faults-sanitized
  job on_pocl "$program" "$pocl"
done
for each in tests/compile.sh tests/test_*.sh; do
  job script "$each"
done
if [ "$long" = 1 ]; then job on_pocl_script tests/trust.sh "$pocl" --long; else job on_pocl_script tests/trust.sh "$pocl"; fi
part=test_smoke
[ -n "$everywhere" ] && part=$programs
for program in $part; do
  if command -v oclgrind > /dev/null 2>&1; then
    job on_oclgrind "$program"
  fi
done
for each in $drivers; do
  library=${each#*:}
  for program in $part; do
    [ "${each%%:*}" = on_driver ] && continue
    job "${each%%:*}" "$program" "${library%:*}" "${library##*:}"
  done
  [ "${each%%:*}" = on_driver ] && for program in $programs; do
    job on_driver "$program" "${library%:*}" "${library##*:}"
  done
done
command -v oclgrind > /dev/null 2>&1 || say 'left out: oclgrind is not installed'
if install_intel; then
  for program in $part; do
    job on_intel "$program" "$intel"
  done
fi

# How long they take, in this order; the rest as it comes.
order='on_pocl test_scan|on_pocl test_histogram|on_oclgrind|on_pocl test_faults|trust.sh|compile.sh|on_pocl'
worker() {
  while :; do
    until mkdir "$work/lock" 2> /dev/null; do sleep 0.1; done
    next=
    IFS='|'
    for pattern in $order; do
      next=$(grep -n -m 1 -F -e "$pattern" "$work/jobs.txt") && break
    done
    unset IFS
    [ -n "$next" ] || next=$(grep -n -m 1 . "$work/jobs.txt")
    if [ -n "$next" ]; then
      sed "${next%%:*}d" "$work/jobs.txt" > "$work/jobs-left.txt"
      mv "$work/jobs-left.txt" "$work/jobs.txt"
    fi
    rmdir "$work/lock"
    [ -n "$next" ] || return
    # shellcheck disable=SC2086
    (${next#*:})
  done
}

say 'running'
rmdir "$work/lock" 2> /dev/null
workers=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
[ "$workers" -gt 8 ] && workers=8
while [ "$workers" -gt 0 ]; do
  worker &
  workers=$((workers - 1))
done
wait

awk '{ p += $1; f += $2; s += $3 }
     END { printf "%d passed, %d failed", p, f; if (s) printf ", %d skipped", s; print ""; exit f > 0 || p == 0 }' \
  "$work/totals.txt"
