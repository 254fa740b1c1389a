#!/bin/sh
# Machines that lack something: sh tests/elsewhere.sh [--long]
#
# Without a loader, with a loader and no platform, with a platform and no device: each gives its documented result. As
# 32-bit code. With --long also the host logic on Arm64 and on a big-endian machine (qemu's user mode, against a stub of
# OpenCL made here), and a Windows program under wine. What has no tool here is named. The last line is
# "N passed, N failed".

long=
[ "$1" = --long ] && long=1
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/elsewhere
rm -rf "$work"
mkdir -p "$work/empty" "$work/libs" && cd "$work" || exit 1
passed=0
failed=0
cc=${CC:-cc}

have() {
  command -v "$1" > /dev/null 2>&1
}

# check NAME WANTED COMMAND...: the command prints the wanted line.
check() {
  name=$1
  wanted=$2
  shift 2
  got=$("$@" 2> error.txt)
  if [ "$got" = "$wanted" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: '$got' instead of '$wanted'"
    head -5 error.txt
  fi
}

cp "$root/tests/elsewhere_open.c" open.c
cp "$root/tests/elsewhere_stub.c" stub.c
cp "$root/tests/fake.h" "$root/tests/opencl.h" .
sed -i.bak "s|\"../gpuscan.h\"|\"$root/gpuscan.h\"|" open.c

# ---- this machine, with things missing ---------------------------------------------------------------------------------

if ! $cc -std=c99 open.c -o open -ldl; then
  echo 'FAILED: open.c'
  echo '0 passed, 1 failed'
  exit 1
fi
# A library of the loader's name that is none, found first: dlopen refuses it, as it would one that is not there.
echo 'not a library' > libs/libOpenCL.so.1
cp libs/libOpenCL.so.1 libs/libOpenCL.so
no_opencl="-2100 no OpenCL loader: install the GPU's driver, or a loader and PoCL (Debian: ocl-icd-libopencl1), the object \
is NULL"
no_platform="-2101 no OpenCL platform: install the GPU's driver, or PoCL for the CPU (Debian: pocl-opencl-icd), the object \
is NULL, with a message"
no_device="-2102 no OpenCL device, or none with the requested name: see GPUSCAN_DEVICE; desc.error lists the devices, the \
object is NULL, with a message"
no_loader="$no_opencl, with a message"
install="install an OpenCL loader (Debian: ocl-icd-libopencl1) or a GPU's driver"
if $cc -shared -fPIC -x c - -o nothing.so 2> /dev/null << 'END_OF_C'
#include <stddef.h>
#include <string.h>
void *dlopen(const char *name, int flags);
void *dlopen(const char *name, int flags) { (void)name; (void)flags; return NULL; }
END_OF_C
then
  check 'no loader' "$no_loader" env LD_PRELOAD="$work/nothing.so" ./open
  for table in nothing one; do
    lacks=clGetPlatformIDs
    [ $table = one ] && lacks=clGetPlatformInfo
    check "no loader, a table of $table" "$no_opencl, opencl: the table has no $lacks, and \
libOpenCL.so.1 was not found: $install (no OpenCL loader)" \
      env OPEN_WORDS=1 OPEN_TABLE=$table LD_PRELOAD="$work/nothing.so" ./open
  done
else
  echo 'left out: no loader, for want of LD_PRELOAD'
fi
# a loader that lacks entry points
if echo 'int clGetPlatformIDs(void) { return 0; }' > half.c && mkdir -p half && $cc -shared -fPIC half.c -o half/libOpenCL.so.1; then
  check 'half a loader' "$no_loader" env LD_LIBRARY_PATH="$work/half" ./open
  check 'half a loader and half a table' "$no_opencl, opencl: the table has no \
clGetPlatformInfo, and libOpenCL.so.1 has no clGetPlatformInfo, so it is not OpenCL 1.2 (no OpenCL loader)" \
    env OPEN_WORDS=1 OPEN_TABLE=one LD_LIBRARY_PATH="$work/half" ./open
fi
check 'no platform' "$no_platform" env OCL_ICD_VENDORS="$work/empty/" \
  OPENCL_VENDOR_PATH="$work/empty/" ./open
# the stub: one platform, and as many devices as STUB_DEVICES says
mkdir -p stub
if $cc -std=c99 -shared -fPIC stub.c -o stub/libOpenCL.so.1; then
  check 'no device' "$no_device" \
    env LD_LIBRARY_PATH="$work/stub" STUB_DEVICES=0 ./open
  check 'a stub' '0 success, calls are right' env LD_LIBRARY_PATH="$work/stub" STUB_DEVICES=1 ./open
  check 'a stub and a table of nothing' '0 success, calls are right' env OPEN_TABLE=nothing LD_LIBRARY_PATH="$work/stub" ./open
  check 'a stub and a table of one' "$no_platform" \
    env OPEN_TABLE=one LD_LIBRARY_PATH="$work/stub" ./open
  # a library of the caller's choice, by its path and by its name, before any loader
  cp stub/libOpenCL.so.1 libs/libmy_opencl.so
  check 'a library by its path' '0 success, calls are right' env OPEN_LIBRARY="$work/stub/libOpenCL.so.1" \
    LD_LIBRARY_PATH="$work/half" STUB_DEVICES=1 ./open
  check 'a library by its name' '0 success, calls are right' env OPEN_LIBRARY=libmy_opencl.so LD_LIBRARY_PATH="$work/libs" \
    STUB_DEVICES=1 ./open
  check 'a library for a table of nothing' '0 success, calls are right' env OPEN_LIBRARY="$work/libs/libmy_opencl.so" \
    OPEN_TABLE=nothing STUB_DEVICES=1 ./open
  check 'no library' '0 success, calls are right' env OPEN_LIBRARY= LD_LIBRARY_PATH="$work/stub" STUB_DEVICES=1 ./open
  check 'a library that is not there' "$no_opencl, library: $work/none.so could not be \
loaded (no OpenCL loader)" env OPEN_WORDS=1 OPEN_LIBRARY="$work/none.so" LD_LIBRARY_PATH="$work/stub" STUB_DEVICES=1 ./open
  check 'a library of something else' "$no_opencl, $work/half/libOpenCL.so.1 has no \
clGetPlatformInfo, so it is not OpenCL 1.2 (no OpenCL loader)" env OPEN_WORDS=1 OPEN_LIBRARY="$work/half/libOpenCL.so.1" \
    LD_LIBRARY_PATH="$work/stub" STUB_DEVICES=1 ./open
  check 'a device that is too old' '-2103 the device is below OpenCL 1.2 or has no compiler, the object is NULL, with a message' \
    env LD_LIBRARY_PATH="$work/stub" STUB_DEVICES=1 STUB_VERSION='OpenCL 1.1 stub' ./open
else
  failed=$((failed + 1))
  echo 'FAILED: stub.c'
fi

# ---- other machines ----------------------------------------------------------------------------------------------------

# other NAME COMPILER RUNNER...: the program and the stub, compiled and run there.
other() {
  where=$1
  compiler=$2
  shift 2
  mkdir -p "$where"
  # the headers of OpenCL are the same everywhere
  mkdir -p include && [ -e include/CL ] || ln -s /usr/include/CL include/CL
  # shellcheck disable=SC2086
  if $compiler -std=c99 -Iinclude -shared -fPIC stub.c -o "$where/libOpenCL.so.1" 2> error.txt &&
    $compiler -std=c99 -Iinclude open.c -o "$where/open" -ldl 2> error.txt; then
    check "$where: a stub" '0 success, calls are right' env STUB_DEVICES=1 "$@" "$work/$where/open" "$work/$where"
    check "$where: no device" "$no_device" \
      env STUB_DEVICES=0 "$@" "$work/$where/open" "$work/$where"
  else
    failed=$((failed + 1))
    echo "FAILED: $where: it does not compile"
    head -5 error.txt
  fi
}

if echo 'int main(void) { return 0; }' > try.c && $cc -m32 try.c -o try -ldl 2> /dev/null && ./try; then
  other i386 "$cc -m32" env LD_LIBRARY_PATH="$work/i386"
else
  echo "left out: 32 bit, $cc -m32 links no program here"
fi
if [ -n "$long" ]; then
  for machine in aarch64-linux-gnu s390x-linux-gnu powerpc64-linux-gnu; do
    short=${machine%%-*}
    qemu=qemu-$short
    [ "$short" = powerpc64 ] && qemu=qemu-ppc64
    have "$qemu" || qemu=$qemu-static
    if have "$qemu" && have "$machine-gcc"; then
      other "$short" "$machine-gcc" "$qemu" -L "/usr/$machine" -E "LD_LIBRARY_PATH=$work/$short"
    else
      echo "left out: $short, which needs $machine-gcc and $qemu"
    fi
  done
  if have wine && have x86_64-w64-mingw32-gcc; then
    mkdir -p include && [ -e include/CL ] || ln -s /usr/include/CL include/CL
    x86_64-w64-mingw32-gcc -std=c99 -D__USE_MINGW_ANSI_STDIO=1 -Iinclude open.c -o open.exe &&
      check 'Windows without OpenCL' "$no_loader" env WINEDLLOVERRIDES=opencl= WINEDEBUG=-all WINEPREFIX="$work/wine" \
        sh -c "wine ./open.exe | tr -d '\\r'"
  else
    echo 'left out: Windows, which needs wine and x86_64-w64-mingw32-gcc'
  fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
