#!/bin/sh
# One job of tests/run.sh: sh tests/job.sh IMPLEMENTATION PROGRAM [LIBRARY], or sh tests/job.sh script FILE [OPTION...].
#
# Runs the test program build/tests/PROGRAM on one OpenCL implementation, alone, whose driver is the library; or a script
# that prints "N passed, N failed" last, on the driver that $driver names, if any. Says in a line what came of it, and adds
# it to build/tests/totals.txt. A test that was to run and did not, since the program died, has failed.

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$root/build/tests
implementation=$1
program=$2
library=$3
started=$(date +%s)

say() {
  printf '%s\n' "$*"
}

# One line of the sum: passed, failed, skipped.
count() {
  echo "$1 $2 $3" >> "$work/totals.txt"
}

# A folder with one driver's .icd file, for OCL_ICD_VENDORS.
only() {
  mkdir -p "$work/icd/$implementation"
  icd=$work/icd/$implementation/$implementation.icd
  printf '%s\n' "$1" > "$icd.$$" && mv "$icd.$$" "$icd" # at once: another job may be reading it
  OCL_ICD_VENDORS=$work/icd/$implementation/
  export OCL_ICD_VENDORS
}

# PoCL's kernels without optimization, where $unoptimized names the program or script. Other programs take four times as
# long, and so a quarter of the share.
quickly() {
  # shellcheck disable=SC2086 # words
  for name in $unoptimized; do
    if [ "$name" = "$1" ]; then
      POCL_EXTRA_BUILD_FLAGS="$POCL_EXTRA_BUILD_FLAGS -cl-opt-disable"
      export POCL_EXTRA_BUILD_FLAGS
      return
    fi
  done
  case $unoptimized,$1 in
    ,* | *.sh) ;;
    *) GPUSCAN_TEST_SHARE=$((GPUSCAN_TEST_SHARE * 4)) ;;
  esac
}

# ---- a script ----------------------------------------------------------------------------------------------------------

if [ "$implementation" = script ]; then
  shift
  log=$work/logs/$(basename "$1").txt
  if [ -n "$driver" ]; then
    implementation=pocl
    only "$driver"
    quickly "$1"
  fi
  sh "$@" > "$log" 2>&1
  last=$(tail -1 "$log")
  case $last in
    *' passed, '*' failed') ;;
    *) last='0 passed, 1 failed' ;;
  esac
  say "$(basename "$1"): $last ($(($(date +%s) - started)) s)"
  grep -E -A8 '^FAILED|^not ok' "$log" | head -60 | sed 's/^/  /'
  grep '^left out' "$log" | sed 's/^/  /'
  # shellcheck disable=SC2086
  set -- $last
  count "$1" "$3" 0
  exit 0
fi

# ---- a program ---------------------------------------------------------------------------------------------------------

[ -x "$work/$program" ] || exit 0 # it did not compile, which is counted already
log=$work/logs/$implementation-$program.txt
reports=$work/logs/$implementation-$program-reports.txt
case $implementation in
  pocl | pocl-seed-* | pocl-host-at-*)
    only "$library"
    quickly "$program"
    case $implementation in
      pocl-seed-*) GPUSCAN_TEST_SEED=${implementation#pocl-seed-} ;;
      pocl-host-at-*)
        GPUSCAN_TEST_HOST_AT=${implementation#pocl-host-at-}
        GPUSCAN_TEST_ONLY='*rows*'
        export GPUSCAN_TEST_HOST_AT GPUSCAN_TEST_ONLY
        ;;
    esac
    export GPUSCAN_TEST_SEED
    # what drivers and compilers leave behind is not ours
    printf 'leak:%s\n' libpocl libLLVM libclang libOpenCL ld-linux dlopen > "$work/leaks.txt"
    ASAN_OPTIONS=detect_odr_violation=0
    LSAN_OPTIONS=suppressions=$work/leaks.txt:print_suppressions=0
    export ASAN_OPTIONS LSAN_OPTIONS
    ;;
  oclgrind) ;; # is its own loader
  trixie) # its own system, as by default
    GPUSCAN_TEST_SHARE=256
    POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
    export POCL_EXTRA_BUILD_FLAGS
    ;;
  pocl-as-*) # KERNEL-LIBRARY+CPU
    only "$library"
    POCL_KERNELLIB_NAME=${implementation#pocl-as-}
    POCL_LLVM_CPU_NAME=${POCL_KERNELLIB_NAME#*+}
    POCL_KERNELLIB_NAME=${POCL_KERNELLIB_NAME%%+*}
    export POCL_KERNELLIB_NAME POCL_LLVM_CPU_NAME
    ;;
  *)
    only "$library"
    ;;
esac
case $implementation in
  oclgrind | rusticl | intel) # they run or compile slowly
    GPUSCAN_TEST_SIZE=small
    RUSTICL_ENABLE=llvmpipe
    export GPUSCAN_TEST_SIZE RUSTICL_ENABLE
    ;;
esac
if [ "$implementation" = intel ]; then
  LD_LIBRARY_PATH=$work/intel/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
fi
if [ "$implementation" = oclgrind ]; then
  oclgrind --data-races --uninitialized --check-api --max-errors 100 --log "$reports" "$work/$program" > "$log" 2>&1
elif [ "$implementation" = trixie ]; then # mounts that end with it
  # shellcheck disable=SC2016 # the inner shell's
  unshare -m sh -c 'mount -t proc proc "$1/proc" && mount -t sysfs -o ro sys "$1/sys" && mount --bind /dev "$1/dev" &&
    mount --bind "$2" "$1/mnt" && POCL_CACHE_DIR=/tmp exec chroot "$1" "/mnt/$3"' \
    sh "$work/trixie" "$work" "$program" > "$log" 2>&1
else
  "$work/$program" > "$log" 2>&1
fi
status=$?

passed=$(grep -c '^\[       OK \]' "$log")
planned=$(sed -n 's/^\[=*\].* Running \([0-9]*\) test(s).*/\1/p' "$log" | head -1)
skipped=$(sed -n 's/^\[  SKIPPED \].* \([0-9]*\) test(s), listed below.*/\1/p' "$log" | tail -1)
planned=${planned:-$((passed + 1))} # a program that says nothing has failed
skipped=${skipped:-0}
failed=$((planned - passed - skipped))
died=
if [ "$status" -ne 0 ] && ! grep -q '^\[=*\].* run\.$' "$log"; then
  failed=$((planned - passed))
  skipped=0
  signal=
  [ "$status" -gt 128 ] && signal=$(kill -l "$((status - 128))" 2> /dev/null)
  died="died in $(sed -n 's/^\[ RUN      \] //p' "$log" | tail -1) with ${signal:+SIG}${signal:-status $status}"
elif [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
  # The end of the program failed, or a sanitizer has a report. LeakSanitizer may crash by itself at the end, over a
  # driver's threads: it has looked for nothing then.
  if grep -q 'LeakSanitizer has encountered a fatal error' "$log" &&
    ! grep -q -E 'ERROR: [A-Za-z]*Sanitizer|runtime error' "$log"; then
    skipped=$((skipped + 1))
    say "left out: the search for leaks of ${program#test_}, in which LeakSanitizer itself crashed"
  else
    failed=1
  fi
fi
if [ "$implementation" = oclgrind ] && [ -s "$reports" ]; then # a report is a failure even where the results are right
  failed=$((failed + 1))
fi
count "$passed" "$failed" "$skipped"
line="$implementation: ${program#test_}: $passed passed, $failed failed"
[ "$skipped" -gt 0 ] && line="$line, $skipped skipped"
[ -n "$died" ] && line="$line: $died, $((planned - passed - 1)) tests after it not run"
say "$line ($(($(date +%s) - started)) s)"
if [ "$failed" -gt 0 ]; then
  say "  status $status; from $log:"
  grep -E -B3 -A3 '^\[  ERROR|^\[  FAILED|ALARM|ERROR: |runtime error|no device|no object' "$log" | head -30 | sed 's/^/  /'
  [ -n "$died" ] && tail -12 "$log" | cut -c 1-300 | sed 's/^/  /' # the last words of whoever gave up
  [ -s "$reports" ] && head -20 "$reports" | sed 's/^/  /'
fi
exit 0
