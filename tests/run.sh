#!/bin/sh
# Runs the tests: sh tests/run.sh
#
# Installs what they need (tools/setup), compiles each tests/test_*.c into build/tests/, and runs them, tests/compile.sh
# and the other scripts. All tests run on PoCL and on devices with drivers of their own. test_smoke also runs on
# rusticl's llvmpipe, on Intel's CPU runtime, which has sub-groups, and on the Oclgrind simulator, which looks for
# races, uninitialised values and wrong API calls; the simulator gets test_lanes or test_lanes_runs, too. test_offsets
# runs as PoCL compiles it for other processors, a part of test_scan on buffers that begin behind a line of memory. The
# faults run under the address and undefined behaviour sanitizers. Most of a run's time is PoCL's compiler. So of tests
# that would build a program for each of many combinations, and of the strategies by which others run, a run takes a
# share; and PoCL optimizes the kernels of one in twelve programs, of what looks at the host none. Which, the seed
# decides that each program prints, and GPUSCAN_TEST_SEED repeats it. It takes 10 to 18 minutes on two cores.
#
#   --more    32 times the share of the combinations, all kernels optimized, on Intel's CPU runtime test_pairs, and on
#             Debian 13's PoCL, by root, five programs with the share and kernels of a default run
#   --all     a share 256 times as large, and all tests on every implementation that is here: two hours
#   --long    the same, with every combination at its full size, which takes hours
#
# GPUSCAN_TEST_SHARE=1 takes the most of a run that is not --long; 256 is the default, of --more 8.
#
# GPUSCAN_TEST_AGAIN=SEED runs the planted mistakes once more with this seed, and one in sixteen of the others,
# which the seed chooses: a minute or two.
#
# All that is written lies in build/. The last line is "N passed, N failed", with ", N skipped" where tests were; the
# status is 0 when none failed.

GPUSCAN_TEST_LONG=0
everywhere=
intel=
share=256
unoptimized=
of_host=
case $1 in
  '') # what these look at is the host's
    of_host='test_arguments test_blobs test_create test_data test_events test_faults test_faults-sanitized test_host'
    of_host="$of_host test_messages test_plants test_prepare test_start test_threads test_tracer test_trust tests/trust.sh" ;;
  --more) share=8 intel=1 ;;
  --all) share=1 intel=1 everywhere=1 ;;
  --long) share=1 intel=1 everywhere=1 GPUSCAN_TEST_LONG=1 ;;
  *) echo "usage: sh tests/run.sh [--more | --all | --long]" >&2; exit 2 ;;
esac
GPUSCAN_TEST_SHARE=${GPUSCAN_TEST_SHARE:-$share}
GPUSCAN_TEST_SEED=${GPUSCAN_TEST_SEED:-$(date +%s)}

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$root/build/tests
cc=${CC:-cc}
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef -Wstrict-prototypes
  -Wc++-compat -Werror'

mkdir -p "$work/logs" "$root/build/pocl" || exit 1
rm -f "$work"/logs/* "$work/jobs.txt"
: > "$work/totals.txt"
POCL_CACHE_DIR=$root/build/pocl
export POCL_CACHE_DIR GPUSCAN_TEST_LONG GPUSCAN_TEST_SHARE GPUSCAN_TEST_SEED
cores=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
[ "$cores" -gt 8 ] && cores=8

say() {
  printf '%s\n' "$*"
}

say "gpuscan's tests: compile tests, then every test program on every OpenCL implementation of this machine."
sh tools/setup tests || exit 1

# ---- programs ----------------------------------------------------------------------------------------------------------

say 'compiling the test programs'
sanitize=
sanitized=
if echo 'int main(void) { return 0; }' > "$work/empty.c" &&
  "$cc" -fsanitize=address,undefined "$work/empty.c" -o "$work/empty" 2> /dev/null && "$work/empty"; then
  sanitize='-g -fsanitize=address,undefined -fno-sanitize-recover=all'
  sanitized=test_faults-sanitized
else
  say "left out: $cc has no -fsanitize=address,undefined"
fi
programs= # not optimized: a run has less to compute than to compile; nor are most kernels
optimized=
turn=$((GPUSCAN_TEST_SEED / 97))
for source in tests/test_*.c; do
  program=$(basename "$source" .c)
  programs="$programs $program"
  case " $of_host " in
    '  ' | *" $program "*) continue ;; # all are optimized, or it is none of these
  esac
  turn=$((turn + 1))
  if [ $((turn % 12)) = 0 ]; then optimized="$optimized ${program#test_}"; else unoptimized="$unoptimized $program"; fi
done
unoptimized="$unoptimized $of_host"
[ -n "$optimized" ] && say "kernels are optimized for:$optimized"
export cc warnings sanitize work unoptimized
# shellcheck disable=SC2016,SC2086 # $1 is the inner shell's
printf '%s\n' $sanitized $programs | xargs -n 1 -P "$cores" sh -c '
  [ "$1" = "${1%-sanitized}" ] && sanitize=
  "$cc" -std=c99 $warnings $sanitize "tests/${1%-sanitized}.c" -o "$work/$1" -lcmocka -lOpenCL -lm -lpthread -ldl \
    > "$work/logs/$1-compile.txt" 2>&1 && exit
  echo "FAILED: $1 does not compile:"
  head -20 "$work/logs/$1-compile.txt"
  rm -f "$work/$1"
  echo "0 1 0" >> "$work/totals.txt"' sh

# ---- jobs --------------------------------------------------------------------------------------------------------------

# job SECONDS WHAT...: about how long it takes, so that the longest start first; then what tests/job.sh gets.
job() {
  echo "$@" >> "$work/jobs.txt"
}

# About how long a program takes on PoCL.
seconds() {
  case $1 in
    test_scan | test_faults) echo 130 ;;
    test_histogram | test_reduce | test_devices | test_trust | test_sort | test_pairs) echo 90 ;;
    test_arguments | test_prepare | test_host | test_segments | test_events) echo 45 ;;
    test_select | test_runs | test_start | test_uniform_add | test_lanes | test_data) echo 30 ;;
    *) echo 10 ;;
  esac
}

part=test_smoke
[ -n "$everywhere" ] && part=$programs

# on_part IMPLEMENTATION LIBRARY SECONDS: the part of the tests that runs on each implementation.
on_part() {
  for program in $part; do
    job "$3" "$1" "$program" "$2"
  done
}

has_device() {
  mkdir -p "$work/icd/$1" && printf '%s\n' "$2" > "$work/icd/$1/$1.icd"
  ! OCL_ICD_VENDORS=$work/icd/$1/ GPUSCAN_TEST_ONLY=none "$work/test_smoke" 2>&1 | grep -q 'no device'
}

# Intel's CPU runtime comes from PyPI, into a folder of its own; the second package has libimf and libsvml, which the
# first needs and does not name.
has_intel() {
  if [ "$(uname -m)" != x86_64 ]; then
    say "left out: Intel's CPU runtime, this is no x86-64"
  elif [ ! -e "$work/intel/lib/libintelocl.so" ] &&
    ! { python3 -m venv "$work/intel" && "$work/intel/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt; } \
      > "$work/logs/intel-setup.txt" 2>&1; then
    say "left out: Intel's CPU runtime, which pip could not install (see $work/logs/intel-setup.txt)"
  else
    return 0
  fi
  return 1
}

# Debian 13's PoCL compiles work-groups otherwise than older ones. It runs in a folder that has that system.
has_trixie() {
  if [ "$(id -u)" != 0 ] || ! command -v debootstrap > /dev/null 2>&1 || ! unshare -m true 2> /dev/null; then
    say "left out: Debian 13's PoCL, which takes root, debootstrap and unshare"
  elif [ ! -e "$work/trixie/complete" ] &&
    ! { debootstrap --variant=minbase --include=pocl-opencl-icd,ocl-icd-libopencl1,libcmocka0 trixie "$work/trixie" &&
      : > "$work/trixie/complete"; } > "$work/logs/trixie-setup.txt" 2>&1; then
    rm -rf "$work/trixie"
    say "left out: Debian 13's PoCL, which debootstrap could not install (see $work/logs/trixie-setup.txt)"
  else
    return 0
  fi
  return 1
}

pocl=libpocl.so.2
for icd in /etc/OpenCL/vendors/*.icd; do
  [ -e "$icd" ] || continue
  library=$(head -1 "$icd")
  name=$(basename "$icd" .icd)
  case $library in
    *pocl*) pocl=$library ;;
    *usticl*) on_part rusticl "$library" 60 ;;
    *)
      if has_device "$name" "$library"; then
        for program in $programs; do
          job "$(seconds "$program")" "$name" "$program" "$library"
        done
      else
        say "left out: $name, which has no device here"
      fi
      ;;
  esac
done
for program in $programs; do
  time=$(seconds "$program")
  [ "$program" = test_faults ] && program=${sanitized:-test_faults}
  # what it does the others do here, too
  [ "$program" = test_smoke ] && [ -z "$everywhere" ] && continue
  job "$time" pocl "$program" "$pocl"
done
turn=$GPUSCAN_TEST_AGAIN
for program in ${GPUSCAN_TEST_AGAIN:+$programs}; do
  turn=$((turn + 1))
  if [ "$program" = test_plants ] || [ $((turn % 16)) = 0 ]; then
    job "$(seconds "$program")" "pocl-seed-$GPUSCAN_TEST_AGAIN" "$program" "$pocl"
  fi
done
# Buffers in memory of the host's that begin behind a line: scans of rows, whose tiles the host cuts by offsets alone.
job 30 "pocl-host-at-$((GPUSCAN_TEST_SEED % 3 + 1))" test_scan "$pocl"
# PoCL's compiler picks other instructions for another processor, which ask for other alignments: the offsets run for
# each that this one can stand for. Distributions' PoCL goes by its kernel library's name, others by LLVM's name.
cpu_name() {
  OCL_ICD_VENDORS=$work/icd/pocl/ GPUSCAN_TEST_ONLY=none "$work/test_offsets" 2>&1 |
    sed -n 's/^\(pthread.*\), seed.*/\1/p'
}
cpus='avx2+haswell avx512+skylake-avx512'
[ -n "$intel" ] && cpus="$cpus sse2+x86-64 sse41+nehalem"
can=$(grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null)
mkdir -p "$work/icd/pocl" && printf '%s\n' "$pocl" > "$work/icd/pocl/pocl.icd"
seen=$(cpu_name)
for cpu in $cpus; do
  case $cpu in
    sse41+*) needs=sse4_2 ;;
    avx2+*) needs=avx2 ;;
    avx512+*) needs=avx512vl ;;
    *) needs=sse2 ;;
  esac
  case "$can " in *" $needs "*) ;; *) continue ;; esac
  name=$(export POCL_KERNELLIB_NAME="${cpu%%+*}" POCL_LLVM_CPU_NAME="${cpu#*+}"; cpu_name)
  case "|$seen|" in *"|$name|"*) continue ;; esac # this PoCL does not listen, or it is the machine's own
  seen="$seen|$name"
  job 40 "pocl-as-$cpu" test_offsets "$pocl"
done
if command -v oclgrind > /dev/null 2>&1; then
  on_part oclgrind oclgrind 110
  lanes='test_lanes test_lanes_runs' # what PoCL does not get through: by default one, of four seeds one the long one
  if [ -n "$everywhere" ]; then
    lanes= # on_part has them
  elif [ -z "$intel" ] && [ $((GPUSCAN_TEST_SEED % 4)) = 0 ]; then
    lanes=test_lanes
    say 'left out: test_lanes_runs on oclgrind, which other seeds have'
  elif [ -z "$intel" ]; then
    lanes=test_lanes_runs
    say 'left out: test_lanes on oclgrind, which other seeds have'
  fi
  for program in $lanes; do
    job 120 oclgrind "$program" oclgrind
  done
else
  say 'left out: oclgrind is not installed'
fi
if has_intel; then # whose sub-groups no other implementation here has
  [ -n "$intel" ] && [ -z "$everywhere" ] && part="$part test_pairs" # every operation with every type
  on_part intel "$work/intel/lib/libintelocl.so" 60
fi
if [ -n "$intel" ] && has_trixie; then
  [ -z "$everywhere" ] && part='test_smoke test_sort test_reduce test_segments test_select'
  on_part trixie libpocl.so.2 240
fi
job 150 script tests/compile.sh
job 60 script tests/reach.sh ${intel:+--all}
for script in tests/test_*.sh; do
  job 90 script "$script"
done
driver=$pocl
export driver
if [ "$GPUSCAN_TEST_LONG" = 1 ]; then job 9000 script tests/trust.sh --long; else job 95 script tests/trust.sh; fi

say 'running'
sort -rn "$work/jobs.txt" | cut -d ' ' -f 2- | xargs -L 1 -P "$cores" sh tests/job.sh

awk '{ p += $1; f += $2; s += $3 }
     END { printf "%d passed, %d failed", p, f; if (s) printf ", %d skipped", s; print ""; exit f > 0 || p == 0 }' \
  "$work/totals.txt"
