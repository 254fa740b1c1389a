#!/bin/sh
# Runs the tests: sh tests/run.sh [--more | --all | --long]
#
# Installs what they need (tools/setup), compiles each tests/test_*.c and tests/run.c into build/tests/, and calls
# build/tests/run, whose tables say which program runs on which OpenCL implementation. tests/README.md says how long a
# run takes, what the options add, and which variables it reads.
#
# All files are written to build/. The last line is "N passed, N failed", with ", N skipped" where tests were; the
# status is 0 when none failed.

case $1 in
  '') share=128 ;;
  --more) share=8 ;;
  --all | --long) share=1 ;;
  *) echo "usage: sh tests/run.sh [--more | --all | --long]" >&2; exit 2 ;;
esac
GPUSCAN_TEST_LONG=0
[ "$1" = --long ] && GPUSCAN_TEST_LONG=1
GPUSCAN_TEST_SHARE=${GPUSCAN_TEST_SHARE:-$share}
GPUSCAN_TEST_SEED=${GPUSCAN_TEST_SEED:-$(date +%s)}

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$root/build/tests
cc=${CC:-cc}
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef -Wstrict-prototypes
  -Wc++-compat -Werror'
mkdir -p "$work/logs" "$root/build/pocl" || exit 1
rm -f "$work"/logs/* "$work"/test_* "$work/run"
POCL_CACHE_DIR=$root/build/pocl
export POCL_CACHE_DIR GPUSCAN_TEST_LONG GPUSCAN_TEST_SHARE GPUSCAN_TEST_SEED
cores=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
[ "$cores" -gt 8 ] && cores=8

say() {
  printf '%s\n' "$*"
}

say "gpuscan's tests: compile tests, then every test program on every OpenCL implementation of this machine."
say "seed $GPUSCAN_TEST_SEED, share 1/$GPUSCAN_TEST_SHARE"
sh tools/setup tests || exit 1

# ---- Intel's CPU runtime, whose second package has libimf and libsvml, which the first needs and does not name ---------

if [ "$(uname -m)" != x86_64 ]; then
  say "left out: Intel's CPU runtime, this is no x86-64"
elif [ ! -e "$work/intel/lib/libintelocl.so" ] &&
  ! { python3 -m venv "$work/intel" && "$work/intel/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt; } \
    > "$work/logs/intel-setup.txt" 2>&1; then
  say "left out: Intel's CPU runtime, which pip could not install (see $work/logs/intel-setup.txt)"
fi

# ---- Debian 13's PoCL, which compiles work-groups otherwise than older ones, in a folder that has that system ----------

if [ -z "$1" ]; then
  :
elif [ "$(id -u)" != 0 ] || ! command -v debootstrap > /dev/null 2>&1 || ! unshare -m true 2> /dev/null; then
  say "left out: Debian 13's PoCL, which takes root, debootstrap and unshare"
elif [ ! -e "$work/trixie/complete" ] &&
  ! { debootstrap --variant=minbase --include=pocl-opencl-icd,ocl-icd-libopencl1,libcmocka0 trixie "$work/trixie" &&
    : > "$work/trixie/complete"; } > "$work/logs/trixie-setup.txt" 2>&1; then
  rm -rf "$work/trixie"
  say "left out: Debian 13's PoCL, which debootstrap could not install (see $work/logs/trixie-setup.txt)"
fi

# ---- PoCL that compiles faster -----------------------------------------------------------------------------------------

# For each program, PoCL's compiler reads 18,000 lines that declare OpenCL's functions, which takes as long as a small
# kernel. PoCL finds its files by its library's path. So this links them into a folder, and writes a header there that
# leaves out what neither the kernels nor the tests name or paste together. unoptimized.c says what else takes long.
pocl=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | sed -n 's/.*libpocl\.so\.2 .*=> //p' | head -1)
share=${pocl%/*}/../../share/pocl
rm -rf "$work/pocl"
if [ -n "$pocl" ] && [ -e "$share/include/opencl-c.h" ]; then
  mkdir -p "$work/pocl/lib/here" "$work/pocl/share/pocl/include"
  ln -s "${pocl%/*}/pocl" "$pocl" "$work/pocl/lib/here"
  ln -s "$share"/*.bc "$work/pocl/share/pocl"
  ln -s "$share"/include/* "$work/pocl/share/pocl/include"
  calls='[a-z_][a-z0-9_]*\('
  { grep -oE "${calls%??}" kernels.cl.inc; grep -ohE "$calls" gpuscan.h tests/*.[ch] examples/*.[ch]; } | awk '
    NR == FNR { sub(/\(/, ""); named[$1]; next }
    inside { inside = !/;/; next }
    /__ovld/ && !/#/ && match($0, /[a-z0-9_]+\(/) {
      name = substr($0, RSTART, RLENGTH - 1)
      if (!(name ~ /^(convert_[a-z0-9]+|v(load|store)(_half)?[0-9]+)$/ || name in named)) { inside = !/;/; next }
    }
    { print }
  ' - "$share/include/opencl-c.h" > "$work/pocl/opencl-c.h" &&
    mv -f "$work/pocl/opencl-c.h" "$work/pocl/share/pocl/include/opencl-c.h"
  if [ "$(uname -m)" = x86_64 ]; then
    "$cc" -std=c99 -Wall -Wextra -Werror -shared -fPIC tests/unoptimized.c -o "$work/pocl/lib/here/driver.so" \
      -Wl,--no-as-needed,-rpath,'$ORIGIN' "$work/pocl/lib/here/libpocl.so.2" -ldl || exit 1
  else
    ln -s libpocl.so.2 "$work/pocl/lib/here/driver.so"
  fi
fi

# ---- programs, of which the faults run under sanitizers ----------------------------------------------------------------

say 'compiling the test programs'
# clang compiles the header unoptimized in a quarter of gcc's time
[ -z "$CC" ] && command -v clang > /dev/null 2>&1 && cc=clang
# optimization pays where references are computed for seconds; harness.h keeps clang from optimizing the library there
loops=
[ "$cc" = clang ] && loops=' test_reduce test_histogram test_scan '
sanitize='-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all' # gcc's programs are the faster ones
sanitized=test_faults-sanitized
# shellcheck disable=SC2086 # words
if ! echo 'int main(void) { return 0; }' > "$work/empty.c" || ! "${CC:-cc}" $sanitize "$work/empty.c" -o "$work/empty" \
  2> /dev/null || ! "$work/empty"; then
  sanitized=
  say "left out: ${CC:-cc} has no -fsanitize=address,undefined"
fi
export cc warnings sanitize work loops
# shellcheck disable=SC2016,SC2046,SC2086 # words; $1 is the inner shell's
printf '%s\n' $sanitized run $(cd tests && echo test_*.c) | xargs -n 1 -P "$cores" sh -c '
  program=${1%.c}
  source=${program%-sanitized}
  [ "$program" = "$source" ] && sanitize= || cc=${CC:-cc}
  case $loops in *" $program "*) sanitize=-O1 ;; esac
  "$cc" -std=c99 $warnings $sanitize "tests/$source.c" -o "$work/$program" -lcmocka -lOpenCL -lm -lpthread -ldl \
    > "$work/logs/$program-compile.txt" 2>&1' sh

if [ ! -x "$work/run" ]; then
  cat "$work/logs/run-compile.txt"
  exit 1
fi
exec "$work/run" "$@"
