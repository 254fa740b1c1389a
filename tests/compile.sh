#!/bin/sh
# Compiles the header in every way a program may: compilers, dialects, macros, OpenCL versions, 32 and 64 bit, Windows;
# then the kernels as OpenCL C, and the code in the header's and the documents' text. All with every warning an error.
# Called by tests/run.sh. The last line is "N passed, N failed".

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck disable=SC2086 # the warnings are many words

work=$root/build/compile
rm -rf "$work"
mkdir -p "$work" || exit 1
cd "$work" || exit 1
passed=0
failed=0
all= # what a run with --more has; the others take shares, which the seed decides
[ "${GPUSCAN_TEST_SHARE:-1}" -le 8 ] && all=1
turn=${GPUSCAN_TEST_SEED:-$$}
others=0 # checks that other seeds have
most=-O3 # and so have optimizations above the first, half of them
[ -z "$all" ] && [ $((turn / 5 % 2)) = 0 ] && most=-O1

own_warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef -Werror'
warnings="$own_warnings -Wswitch-enum -Wdouble-promotion" # what a program may ask for that includes the header
c_warnings="$warnings -Wstrict-prototypes -Wc++-compat"

have() {
  command -v "$1" > /dev/null 2>&1
}

# check NAME COMMAND...: the command succeeds and says nothing. Of those that leave nothing behind every twelfth.
check() {
  name=$1
  shift
  case " $* " in
    *' -fsyntax-only '*)
      turn=$((turn + 1))
      if [ -z "$all" ] && [ $((turn % 12)) != 0 ]; then
        others=$((others + 1))
        return
      fi
      ;;
  esac
  if "$@" > out.txt 2>&1 && [ ! -s out.txt ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: $*"
    head -20 out.txt
  fi
}

left_out() {
  echo "left out: $1"
}

# The compiler of programs that only have to compile and run: clang takes a quarter of gcc's time without optimization.
quick=${CC:-cc}
[ -z "$CC" ] && have clang && quick=clang

# Whether a compiler knows a dialect.
knows() {
  echo 'int main(void) { return 0; }' > dialect.c
  "$1" "-std=$2" -x "$3" -fsyntax-only dialect.c > /dev/null 2>&1
}

# --- the sources

cat > implementation.c <<'END'
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"
END
cp implementation.c implementation.cpp

# The interface again before, between and behind.
cat > twice.c <<'END'
#include "gpuscan.h"
#include "gpuscan.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"
#include "gpuscan.h"
END
cp twice.c twice.cpp

# A user of the interface alone, in C89: every function, and every struct made zero.
cat > user.c <<'END'
#include "gpuscan.h"
#include "gpuscan.h"
#include <string.h>

int main(void) {
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    gpuscan_info info;
    gpuscan_scan_desc scan;
    gpuscan_uniform_add_desc add;
    gpuscan_reduce_desc reduce;
    gpuscan_histogram_desc histogram;
    gpuscan_select_desc select;
    gpuscan_runs_desc runs;
    gpuscan_sort_desc sort;
    gpuscan_integral_desc integral;
    gpuscan_quantile_desc quantile;
    uint64_t size = 0;
    size_t blob_size = 0;
    char error[100];
    int refused = 0;
    typedef char enums_have_4_bytes[sizeof(gpuscan_type) == 4 && sizeof(gpuscan_strategy) == 4 ? 1 : -1];
    refused += sizeof(enums_have_4_bytes) != 1;
    memset(&desc, 0, sizeof desc);
    memset(&scan, 0, sizeof scan);
    memset(&add, 0, sizeof add);
    memset(&reduce, 0, sizeof reduce);
    memset(&histogram, 0, sizeof histogram);
    memset(&select, 0, sizeof select);
    memset(&runs, 0, sizeof runs);
    memset(&sort, 0, sizeof sort);
    memset(&integral, 0, sizeof integral);
    memset(&quantile, 0, sizeof quantile);
    desc.device_name = "no device has this name";
    desc.error = error;
    desc.error_size = sizeof error;
    refused += gpuscan_create(&gs, &desc) != GPUSCAN_SUCCESS;
    refused += gpuscan_get_info(gs, &info) != GPUSCAN_SUCCESS;
    refused += gpuscan_scan(gs, &scan) != GPUSCAN_SUCCESS;
    refused += gpuscan_uniform_add(gs, &add) != GPUSCAN_SUCCESS;
    refused += gpuscan_reduce(gs, &reduce) != GPUSCAN_SUCCESS;
    refused += gpuscan_histogram(gs, &histogram) != GPUSCAN_SUCCESS;
    refused += gpuscan_select(gs, &select) != GPUSCAN_SUCCESS;
    refused += gpuscan_select_prepare(gs, &select) != GPUSCAN_SUCCESS;
    refused += gpuscan_select_scratch_size(gs, &select, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_select_host(gs, &size, &size, &size, 1, NULL, &select) != GPUSCAN_SUCCESS;
    refused += gpuscan_runs(gs, &runs) != GPUSCAN_SUCCESS;
    refused += gpuscan_runs_prepare(gs, &runs) != GPUSCAN_SUCCESS;
    refused += gpuscan_runs_scratch_size(gs, &runs, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_runs_host(gs, &size, &size, 1, NULL, &runs) != GPUSCAN_SUCCESS;
    refused += gpuscan_scan_prepare(gs, &scan) != GPUSCAN_SUCCESS;
    refused += gpuscan_uniform_add_prepare(gs, &add) != GPUSCAN_SUCCESS;
    refused += gpuscan_reduce_prepare(gs, &reduce) != GPUSCAN_SUCCESS;
    refused += gpuscan_histogram_prepare(gs, &histogram) != GPUSCAN_SUCCESS;
    refused += gpuscan_scan_scratch_size(gs, &scan, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_uniform_add_scratch_size(gs, &add, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_reduce_scratch_size(gs, &reduce, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_histogram_scratch_size(gs, &histogram, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_scan_host(gs, &size, &size, 1, &scan) != GPUSCAN_SUCCESS;
    refused += gpuscan_uniform_add_host(gs, &size, &size, 1, 1, &add) != GPUSCAN_SUCCESS;
    refused += gpuscan_reduce_host(gs, &size, &size, 1, &reduce) != GPUSCAN_SUCCESS;
    refused += gpuscan_histogram_host(gs, &size, &size, 1, &histogram) != GPUSCAN_SUCCESS;
    refused += gpuscan_sort(gs, &sort) != GPUSCAN_SUCCESS;
    refused += gpuscan_sort_prepare(gs, &sort) != GPUSCAN_SUCCESS;
    refused += gpuscan_sort_scratch_size(gs, &sort, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_sort_host(gs, &size, &size, NULL, 1, &sort) != GPUSCAN_SUCCESS;
    refused += gpuscan_integral(gs, &integral) != GPUSCAN_SUCCESS;
    refused += gpuscan_integral_prepare(gs, &integral) != GPUSCAN_SUCCESS;
    refused += gpuscan_integral_scratch_size(gs, &integral, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_integral_host(gs, &size, &size, 1, 1, &integral) != GPUSCAN_SUCCESS;
    refused += gpuscan_quantile(gs, &quantile) != GPUSCAN_SUCCESS;
    refused += gpuscan_quantile_prepare(gs, &quantile) != GPUSCAN_SUCCESS;
    refused += gpuscan_quantile_scratch_size(gs, &quantile, &size) != GPUSCAN_SUCCESS;
    refused += gpuscan_quantile_host(gs, &size, &size, &quantile) != GPUSCAN_SUCCESS;
    refused += gpuscan_get_blob(gs, NULL, &blob_size) != GPUSCAN_SUCCESS;
    refused += gpuscan_set_blob(gs, &size, 8) != GPUSCAN_SUCCESS;
    refused += gpuscan_type_size(GPUSCAN_TYPE_U32) == 4;
    refused += gpuscan_type_from_name("u32", NULL) != GPUSCAN_SUCCESS;
    refused += gpuscan_version() == GPUSCAN_VERSION;
    refused += gpuscan_struct_size("gpuscan_scan_desc") == sizeof scan;
    refused += gpuscan_result_string(GPUSCAN_SUCCESS) != NULL;
    refused += gpuscan_error(gs) != NULL;
    gpuscan_destroy(gs);
    return refused == 46 ? 0 : 1;
}
END
cp user.c user.cpp

# The same with everything in one file, static.
{ printf '#define GPUSCAN_STATIC\n#define GPUSCAN_IMPLEMENTATION\n'; cat user.c; } > static.c
cp static.c static.cpp
# Static and hardly used: nothing may warn of what is not used.
printf '#define GPUSCAN_STATIC\n#define GPUSCAN_IMPLEMENTATION\n#include "gpuscan.h"\n' > unused.c
cp unused.c unused.cpp
printf '#define GPUSCAN_STATIC\n#define GPUSCAN_IMPLEMENTATION\n#include "gpuscan.h"\n' > second.c
printf 'const char *second_string(void);\nconst char *second_string(void) { return gpuscan_result_string(0); }\n' >> second.c

# Where OpenCL is linked, no library can be named.
cat > named.c <<'END'
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_LINK_OPENCL
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"
int main(void) {
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.library = "libOpenCL.so.1";
    return gpuscan_create(&gs, &desc) == GPUSCAN_ERROR_INVALID_ARGUMENT ? 0 : 1;
}
END

# A program's own names, some of which are locals in the implementation; and with that one's names its own shadows.
{ printf 'typedef float f32;\ntypedef double f64;\ntypedef unsigned char u8, byte;\ntypedef unsigned u32, uint;\n'
  printf 'extern int group, rows, tile, key, plan, size, count, range, kind, code, field, text, half, level, edge, r, i, a, b;\n'
  cat implementation.c; } > names.c
cp names.c names.cpp
mkdir -p own_shadows
sed '/pragma GCC diagnostic ignored "-Wshadow"/d' "$root/gpuscan.h" > own_shadows/gpuscan.h

# A loader's header, as clew.h: it declares OpenCL 1.1, and its macros rename the functions.
{ printf '#define CL_TARGET_OPENCL_VERSION 110\n#include <CL/cl.h>\n'
  sed -n 's/^    X(\(cl[A-Za-z]*\),.*/#define \1 loader_\1/p' "$root/gpuscan.h"; } > loader.h
{ printf '#include "loader.h"\n'; cat user.c; } > behind_loader.c
cp behind_loader.c behind_loader.cpp

# Code beside the library that uses newer entry points, and C++ bindings, before and behind the header.
cat > newer.c <<'END'
#include "gpuscan.h"
#include <CL/cl.h>
cl_command_queue newer(cl_context context, cl_device_id device);
cl_command_queue newer(cl_context context, cl_device_id device) {
    cl_command_queue older = clCreateCommandQueue(context, device, 0, NULL);
    return older ? older : clCreateCommandQueueWithProperties(context, device, NULL, NULL);
}
END
bindings='#include <CL/opencl.hpp>
cl::Context context_of(cl_device_id device);
cl::Context context_of(cl_device_id device) { return cl::Context(cl::Device(device, true)); }'
{ cat implementation.c; echo "$bindings"; } > before_hpp.cpp
{ echo "$bindings"; cat implementation.c; } > behind_hpp.cpp

# --- gcc and clang, C and C++

# One error, which says why.
refuses_version() {
  ! "$@" > said.txt 2>&1 && grep -q 'error.*CL_TARGET_OPENCL_VERSION is below 120' said.txt &&
    [ "$(grep -c 'error:' said.txt)" = 1 ] || cat said.txt
}

rest=gcc # compiles with each macro; in two of three runs clang, which takes a quarter of gcc's time without optimization
have clang && { ! have gcc || [ $((turn / 3 % 3)) != 0 ]; } && rest=clang
for compiler in gcc clang; do
  have "$compiler" || { left_out "$compiler is not installed"; continue; }
  check "$compiler: the interface in C89" "$compiler" -std=c89 -pedantic $c_warnings -I"$root" -c user.c -o user89.o
  for std in c99 c2x gnu99; do
    knows "$compiler" "$std" c || { left_out "$compiler has no $std"; continue; }
    check "$compiler $std: implementation" "$compiler" "-std=$std" $c_warnings -I"$root" -fsyntax-only implementation.c
    [ "$std" = c99 ] || continue
    check "$compiler $std: twice included" "$compiler" "-std=$std" $c_warnings -I"$root" -fsyntax-only twice.c
    check "$compiler $std: static" "$compiler" "-std=$std" $c_warnings -I"$root" -fsyntax-only static.c
    check "$compiler $std: static, not used" "$compiler" "-std=$std" $c_warnings -I"$root" -fsyntax-only unused.c
  done
  case $compiler in gcc) cxx=g++ ;; *) cxx=clang++ ;; esac
  for std in c++11 c++20 c++2b gnu++11; do
    knows "$cxx" "$std" c++ || { left_out "$cxx has no $std"; continue; }
    check "$cxx $std: implementation" "$cxx" "-std=$std" $warnings -I"$root" -fsyntax-only implementation.cpp
    [ "$std" = c++11 ] || continue
    check "$cxx $std: twice included" "$cxx" "-std=$std" $warnings -I"$root" -fsyntax-only twice.cpp
    check "$cxx $std: static" "$cxx" "-std=$std" $warnings -I"$root" -fsyntax-only static.cpp
    check "$cxx $std: static, not used" "$cxx" "-std=$std" $warnings -I"$root" -fsyntax-only unused.cpp
  done

  # the optimizer sees more than the parser, and gcc's more than clang's
  optimize=$most
  [ "$compiler" = clang ] && have gcc && [ -z "$all" ] && optimize=-O0
  [ -n "$all" ] || [ "$optimize" != -O0 ] || [ "$compiler" = "$rest" ] || continue
  check "$compiler $optimize" "$compiler" -std=c99 $optimize $c_warnings -I"$root" -c implementation.c -o implementation-c.o
  [ "$optimize" = -O0 ] || optimize=-O1
  check "$cxx $optimize" "$cxx" -std=c++11 $optimize $warnings -I"$root" -c implementation.cpp -o implementation-cpp.o
  [ -n "$all" ] || [ "$compiler" = "$rest" ] || continue

  # two translation units, of C and C++ in every pairing
  check "$compiler: user" "$compiler" -std=c99 $c_warnings -I"$root" -c user.c -o user-c.o
  check "$cxx: user" "$cxx" -std=c++11 $warnings -I"$root" -c user.cpp -o user-cpp.o
  for implementation in c cpp; do
    for user in c cpp; do
      check "$compiler: link $user with $implementation" "$cxx" "implementation-$implementation.o" "user-$user.o" \
        -o "linked-$user-$implementation" -ldl
      check "$compiler: run $user with $implementation" "./linked-$user-$implementation"
    done
  done
  check "$compiler: C links without libraries but dl" "$compiler" implementation-c.o user-c.o -o linked -ldl
  check "$compiler: static mode in two units" "$compiler" -std=c99 $c_warnings -I"$root" static.c second.c -o linked -ldl
  check "$compiler: static mode runs" ./linked

  # each macro alone
  check "$compiler: GPUSCAN_API" "$compiler" -std=c99 $c_warnings -I"$root" \
    '-DGPUSCAN_API=extern __attribute__((visibility("hidden")))' implementation.c user.c -o linked -ldl
  check "$compiler: GPUSCAN_API runs" ./linked
  if echo 'int main(void) { return 0; }' > dialect.c && "$compiler" dialect.c -o dialect -lOpenCL 2> /dev/null; then
    check "$compiler: GPUSCAN_LINK_OPENCL" "$compiler" -std=c99 $c_warnings -I"$root" -DGPUSCAN_LINK_OPENCL \
      implementation.c user.c -o linked -lOpenCL
    check "$compiler: GPUSCAN_LINK_OPENCL runs" ./linked
    check "$compiler: GPUSCAN_LINK_OPENCL, and a library named" "$compiler" -std=c99 $c_warnings -I"$root" named.c \
      -o linked -lOpenCL
    check "$compiler: GPUSCAN_LINK_OPENCL, and a library named, runs" ./linked
    check "$cxx: GPUSCAN_LINK_OPENCL" "$cxx" -std=c++11 $warnings -I"$root" -DGPUSCAN_LINK_OPENCL \
      implementation.cpp user.cpp -o linked -lOpenCL
    check "$compiler: GPUSCAN_LINK_OPENCL and GPUSCAN_STATIC" "$compiler" -std=c99 $c_warnings -I"$root" \
      -DGPUSCAN_LINK_OPENCL static.c -o linked -lOpenCL
  else
    left_out "linking with -lOpenCL"
  fi
  for version in 120 200 210 220 300; do
    set -- "-DCL_TARGET_OPENCL_VERSION=$version" -I"$root" -fsyntax-only
    check "$compiler: OpenCL $version" "$compiler" -std=c99 $c_warnings "$@" implementation.c
    check "$compiler: OpenCL $version, interface" "$compiler" -std=c89 -pedantic $c_warnings "$@" user.c
    case $version in 120 | 300) ;; *) continue ;; esac # between them the headers only grow
    check "$cxx: OpenCL $version" "$cxx" -std=c++11 $warnings "$@" implementation.cpp
    check "$compiler: OpenCL $version, linked" "$compiler" -std=c99 $c_warnings "$@" -DGPUSCAN_LINK_OPENCL implementation.c
    check "$compiler: OpenCL $version, CL/cl.h first" "$compiler" -std=c99 $c_warnings "$@" -include CL/cl.h implementation.c
  done
  for version in 100 110; do
    for first in stddef.h CL/cl.h; do
      check "$compiler: OpenCL $version, $first first" refuses_version "$compiler" -std=c99 -I"$root" \
        "-DCL_TARGET_OPENCL_VERSION=$version" -include $first -fsyntax-only implementation.c
      check "$cxx: OpenCL $version, $first first" refuses_version "$cxx" -std=c++11 -I"$root" \
        "-DCL_TARGET_OPENCL_VERSION=$version" -include $first -fsyntax-only implementation.cpp
    done
    check "$compiler: OpenCL $version, interface" "$compiler" -std=c89 -pedantic $c_warnings -I"$root" \
      "-DCL_TARGET_OPENCL_VERSION=$version" -fsyntax-only user.c
    check "$cxx: OpenCL $version, interface" "$cxx" -std=c++11 $warnings -I"$root" \
      "-DCL_TARGET_OPENCL_VERSION=$version" -fsyntax-only user.cpp
  done
  check "$compiler: behind a loader" "$compiler" -std=c99 $c_warnings -I"$root" -c behind_loader.c -o behind-c.o
  check "$cxx: behind a loader" "$cxx" -std=c++11 $warnings -I"$root" -c behind_loader.cpp -o behind-cpp.o
  check "$compiler: newer entry points behind the header" "$compiler" -std=c99 $c_warnings -I"$root" -fsyntax-only newer.c
  if echo '#include <CL/opencl.hpp>' | "$cxx" -std=c++11 -x c++ -fsyntax-only - 2> /dev/null; then
    for version in 120 300; do
      for file in before_hpp behind_hpp; do
        check "$cxx: $file.cpp, OpenCL $version" "$cxx" -std=c++11 $warnings -I"$root" -fsyntax-only \
          "-DCL_HPP_MINIMUM_OPENCL_VERSION=$version" "-DCL_HPP_TARGET_OPENCL_VERSION=$version" $file.cpp
      done
    done
  else
    left_out "CL/opencl.hpp with $cxx"
  fi
  check "$compiler: a program's own names" "$compiler" -std=c99 $c_warnings -I"$root" -fsyntax-only names.c
  check "$cxx: a program's own names" "$cxx" -std=c++11 $warnings -I"$root" -fsyntax-only names.cpp
  check "$compiler: no name shadows another" "$compiler" -std=c99 $c_warnings -Iown_shadows -fsyntax-only implementation.c
  check "$cxx: no name shadows another" "$cxx" -std=c++11 $warnings -Iown_shadows -fsyntax-only implementation.cpp
  check "$compiler: deprecated functions" "$compiler" -std=c99 $c_warnings -I"$root" \
    -DCL_USE_DEPRECATED_OPENCL_1_2_APIS -fsyntax-only implementation.c
  check "$compiler: NDEBUG" "$compiler" -std=c99 -DNDEBUG $c_warnings -I"$root" -fsyntax-only implementation.c
  check "$compiler: unsigned char" "$compiler" -std=c99 -funsigned-char $c_warnings -I"$root" -fsyntax-only implementation.c
  m32='-m32 -idirafter /usr/include/x86_64-linux-gnu' # the kernel's headers, which <errno.h> includes
  if echo '#include <stdlib.h>' > dialect.c && "$compiler" $m32 -fsyntax-only dialect.c 2> /dev/null; then
    check "$compiler: 32 bit" "$compiler" $m32 -std=c99 $c_warnings $optimize ${all:+-O3} -I"$root" -c implementation.c \
      -o implementation32.o
    echo '#include <cstdlib>' > dialect.cpp
    "$cxx" $m32 -fsyntax-only dialect.cpp 2> /dev/null &&
      check "$cxx: 32 bit" "$cxx" $m32 -std=c++11 $warnings -I"$root" -fsyntax-only implementation.cpp
    check "$compiler: 32 bit, interface" "$compiler" $m32 -std=c89 -pedantic $c_warnings -I"$root" -fsyntax-only user.c
  else
    left_out "$compiler -m32: no headers for 32 bit"
  fi
done

# --- some operations alone

# Each operation and some pairs: without a warning, and with the functions of these operations alone.
operations='scan uniform_add reduce histogram select runs sort integral quantile'
only_flags() {
  for operation; do
    echo "-DGPUSCAN_ONLY_$operation"
  done | tr a-z A-Z
}
only_shows() {
  sed -n '/^#ifndef GPUSCAN_H/,/^#endif .* GPUSCAN_H/s/^GPUSCAN_API .*[ *]\(gpuscan_[a-z0-9_]*\)(.*/\1/p' "$root/gpuscan.h" |
    while read -r name; do
      of=
      for operation in $operations; do
        case $name in "gpuscan_$operation" | "gpuscan_${operation}_"*) of=$operation ;; esac
      done
      case " $* " in *" $of "* | '  ') echo "$name" ;; *) [ -n "$of" ] || echo "$name" ;; esac
    done | sort > expected.txt
  nm -g --defined-only only.o | awk '{ print $3 }' | sort | diff - expected.txt
}
compilers=0
for only in $operations 'scan reduce' 'select runs' 'histogram quantile' 'sort integral' 'uniform_add runs'; do
  # clang takes a quarter of gcc's time: by default gcc compiles every third, as the seed says
  compilers=$((compilers + 1))
  compiler=$quick
  [ -z "$all" ] && [ $(((${GPUSCAN_TEST_SEED:-$$} + compilers) % 3)) != 0 ] || compiler=${CC:-cc}
  check "only $only" "$compiler" -std=c99 $c_warnings $(only_flags $only) -I"$root" -c implementation.c -o only.o
  check "only $only: shows its functions alone" only_shows $only
  check "only $only: C++" "${CXX:-c++}" -std=c++11 $warnings $(only_flags $only) -I"$root" -fsyntax-only implementation.cpp
  check "only $only: static" "${CC:-cc}" -std=c99 $c_warnings $(only_flags $only) -I"$root" -fsyntax-only unused.c
done

# Two of them run. A call of what is left out does not compile.
cat > only_sort.c <<'END'
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"
int main(void) {
    uint32_t keys[5] = {3, 1, 4, 1, 5};
    gpuscan *gs = NULL;
    gpuscan_result r = gpuscan_create(&gs, NULL);
    if (r == 0) r = gpuscan_sort_host(gs, keys, keys, NULL, 5, NULL);
    if (r != 0) printf("%s\n", gpuscan_error(gs));
    else printf("%u%u%u%u%u\n", (unsigned)keys[0], (unsigned)keys[1], (unsigned)keys[2], (unsigned)keys[3], (unsigned)keys[4]);
    gpuscan_destroy(gs);
    return r != 0;
}
END
sed 's/^    uint32_t keys.*/    uint32_t keys[5] = {1, 0, 2, 0, 2};/; s/gpuscan_sort_host(gs, keys, keys, NULL, 5, NULL)/gpuscan_scan_host(gs, keys, keys, 5, NULL)/' \
  only_sort.c > only_scan.c
only_says() {
  "./only_$1" > said.txt 2>&1
  [ "$(cat said.txt)" = "$2" ] || cat said.txt
}
for only in 'sort 11345' 'scan 01133'; do
  set -- $only
  check "only $1: a program" "$quick" -std=c99 $c_warnings $(only_flags "$1") -I"$root" "only_$1.c" -o "only_$1" -ldl
  check "only $1: a program runs" only_says "$1" "$2"
done
left_out_call() {
  ! "$quick" -std=c99 -Werror $(only_flags sort) -I"$root" -c only_scan.c -o only.o > said.txt 2>&1 &&
    grep -q gpuscan_scan_host said.txt || cat said.txt
}
check 'only sort: a scan does not compile' left_out_call

# --- without OpenCL's headers

# The compiler's folders of headers, linked without OpenCL's.
hide_headers() {
  rm -rf hidden
  hidden_flags=-nostdinc
  number=0
  "$1" -E -v -x c /dev/null 2>&1 | sed -n '/^#include </,/^End of/s/^ \//\//p' > folders.txt
  while read -r folder; do
    number=$((number + 1))
    mkdir -p "hidden/$number"
    find "$folder" -mindepth 1 -maxdepth 1 ! -name CL ! -name OpenCL -exec ln -s {} "hidden/$number" \;
    hidden_flags="$hidden_flags -isystem hidden/$number"
  done < folders.txt
}
# A compiler that finds no OpenCL says what to install, and stops there; one that has no __has_include says what it always
# said.
names_package() {
  ! "$@" > said.txt 2>&1 && grep -q "error.*$missing" said.txt && [ "$(grep -c 'error:' said.txt)" -le 2 ] || cat said.txt
}
names_no_package() {
  ! "$@" > said.txt 2>&1 && ! grep -q opencl-headers said.txt && grep -q "$missing" said.txt || cat said.txt
}
for compiler in gcc clang; do
  have "$compiler" || continue
  hide_headers "$compiler"
  missing='CL/cl.h is missing: install opencl-headers (Debian'
  check "$compiler: a missing CL/cl.h, C89" names_package "$compiler" -std=c89 -pedantic $hidden_flags -I"$root" -c user.c
  check "$compiler: a missing CL/cl.h, C++11" names_package "$compiler" -x c++ -std=c++11 $hidden_flags -I"$root" -c user.c
  missing='OpenCL/opencl.h is missing'
  check "$compiler: a missing OpenCL/opencl.h" names_package "$compiler" -D__APPLE__ $hidden_flags -I"$root" -c user.c
  mkdir -p no_has_include
  sed 's/__has_include/gpuscan_does_not_know/' "$root/gpuscan.h" > no_has_include/gpuscan.h
  missing='CL/cl.h'
  check "$compiler: a missing CL/cl.h without __has_include" names_no_package "$compiler" $hidden_flags -Ino_has_include \
    -c user.c
  check "$compiler: without __has_include" "$compiler" -std=c89 -pedantic $c_warnings -Ino_has_include -fsyntax-only user.c
  mkdir -p bundled/CL
  [ -e bundled/CL/cl.h ] || echo '#include_next <CL/cl.h>' > bundled/CL/cl.h
  check "$compiler: headers of the program's own" "$compiler" -std=c99 -I"$root" -Ibundled -fsyntax-only user.c
done

# --- Windows

# OpenCL's headers alone: the rest of /usr/include is not Windows'
include=$(echo '#include <CL/cl.h>' | "${CC:-cc}" -E -x c - 2> /dev/null | sed -n 's|^# [0-9]* "\(.*\)/CL/cl\.h".*|\1|p' | head -1)
mkdir -p include
[ -n "$include" ] && ln -sf "$include/CL" include/CL
for target in x86_64 ${all:+i686}; do
  cc=$target-w64-mingw32-gcc
  cxx=$target-w64-mingw32-g++
  have "$cc" || { left_out "$cc is not installed"; continue; }
  check "$cc c99" "$cc" -std=c99 ${all:+-O3} $c_warnings -isystem include -I"$root" implementation.c user.c -o "user-$target.exe"
  check "$cc c99: static" "$cc" -std=c99 $c_warnings -isystem include -I"$root" static.c -o "static-$target.exe"
  for std in c99 c17; do
    check "$cc $std" "$cc" "-std=$std" $c_warnings -isystem include -I"$root" -fsyntax-only implementation.c
    check "$cc $std: static, not used" "$cc" "-std=$std" $c_warnings -isystem include -I"$root" -fsyntax-only unused.c
  done
  check "$cc: the interface in C89" "$cc" -std=c89 -pedantic $c_warnings -isystem include -I"$root" -fsyntax-only user.c
  check "$cc: with windows.h" "$cc" -std=c99 $c_warnings -isystem include -I"$root" -include windows.h -fsyntax-only implementation.c
  check "$cc: GPUSCAN_LINK_OPENCL" "$cc" -std=c99 $c_warnings -isystem include -I"$root" -DGPUSCAN_LINK_OPENCL -fsyntax-only implementation.c
  have "$cxx" || { left_out "$cxx is not installed"; continue; }
  for std in c++11 c++20; do
    [ -z "$all" ] && [ $std != c++11 ] ||
      check "$cxx $std" "$cxx" "-std=$std" $warnings -isystem include -I"$root" implementation.cpp user.cpp -o "user-cpp-$target.exe"
    check "$cxx $std: static, not used" "$cxx" "-std=$std" $warnings -isystem include -I"$root" -fsyntax-only unused.cpp
  done
done

# --- names: all that a program can see begins with gpuscan

foreign_symbols() {
  nm -g --defined-only implementation-c.o | awk '$3 !~ /^_?gpuscan_/ { print $3 }'
}
foreign_macros() {
  printf '#include <stddef.h>\n#include <stdint.h>\n#define CL_TARGET_OPENCL_VERSION 300\n%s\n#include <CL/cl.h>\n' \
    '#define CL_USE_DEPRECATED_OPENCL_1_2_APIS' > bare.c
  "${CC:-cc}" -std=c99 -E -dM bare.c | sort > bare.txt
  "${CC:-cc}" -std=c99 -E -dM -I"$root" user.c | sort > interface.txt
  printf '#include <string.h>\n' | "${CC:-cc}" -std=c99 -E -dM -x c - | sort > string.txt
  comm -13 bare.txt interface.txt | comm -23 - string.txt | awk '$2 !~ /^GPUSCAN_/ { print $2 }'
}
leaked_macros() {
  "${CC:-cc}" -std=c99 -E -dM -I"$root" -x c implementation.c |
    awk '{ sub(/\(.*/, "", $2) } tolower($2) !~ /^gpuscan_/ && $2 !~ /^_/ { print $2 }' | sort > all.txt
  sed -n '/^#if.*GPUSCAN_IMPLEMENTATION/,$s/^# *define *\([A-Za-z][A-Za-z0-9_]*\).*/\1/p' "$root/gpuscan.h" |
    grep -vi '^gpuscan_' | sort -u | comm -12 - all.txt
}
check 'every symbol begins with gpuscan_' foreign_symbols
check 'every macro of the interface begins with GPUSCAN_' foreign_macros
check 'every macro of the implementation begins with gpuscan_' leaked_macros

# --- versions, and what bindings see

# The header's first line, its macros, its changelog and its implementation agree; and each public struct's size can be
# asked for.
version=$(sed -n '1s|.* - v\([0-9.]*\) - .*|\1|p' "$root/gpuscan.h")
{
  printf '#define GPUSCAN_IMPLEMENTATION\n#include "gpuscan.h"\n#define SIZE(name) %s\nint main(void) {\n' \
    '(gpuscan_struct_size(#name) == sizeof(name) ? 0 : printf("the size of %s is not known\n", #name))'
  printf '    int a = 0, b = 0, c = 0;\n    sscanf("%s", "%%d.%%d.%%d", &a, &b, &c);\n' "$version"
  printf '    if (strcmp(GPUSCAN_VERSION_STRING, "%s") != 0 || GPUSCAN_VERSION != 10000 * a + 100 * b + c ||\n' "$version"
  printf '        gpuscan_version() != GPUSCAN_VERSION || gpuscan_struct_size("none") || gpuscan_struct_size(NULL))\n'
  printf '        printf("the versions differ\\n");\n'
  sed -n '/^#ifndef GPUSCAN_H/,/^#endif .* GPUSCAN_H/s/^} \(gpuscan_[a-z0-9_]*\);.*/\1/p' "$root/gpuscan.h" > structs.txt
  for name in $(cat structs.txt); do
    grep -q "^typedef enum $name " "$root/gpuscan.h" || printf '    SIZE(%s);\n' "$name"
  done
  printf '    return 0;\n}\n'
} > versions.c
changelog_has_version() {
  sed -n '/^   CHANGES/,/^\*\//p' "$root/gpuscan.h" | grep -q "^   .........   *$version " || echo "no changelog of $version"
}
check 'versions' "$quick" -std=c99 $c_warnings -Wno-unused-value -I"$root" versions.c -o versions -ldl
check 'versions agree, and all structs have a size' ./versions
check 'the changelog has the version' changelog_has_version

# The header's line for a shared library: a C and a C++ program use it, and it shows the public functions alone.
shared=$(awk '/^   LIBRARY/ { on = 1 } on && /^ *cc / { sub(/^ */, ""); line = $0; getline; print substr(line, 1, length(line) - 1) $0; exit }' \
  "$root/gpuscan.h")
shared_shows() {
  nm -D --defined-only libgpuscan.so | awk '{ print $3 }' | sort > shown.txt
  sed -n '/^#ifndef GPUSCAN_H/,/^#endif .* GPUSCAN_H/s/^GPUSCAN_API .*[ *]\(gpuscan_[a-z0-9_]*\)(.*/\1/p' "$root/gpuscan.h" |
    sort | diff shown.txt -
}
library_shows_nothing() {
  "$quick" -shared -fPIC -std=c99 -I"$root" "$@" -o plug_in.so -ldl && nm -D --defined-only plug_in.so | grep -i gpuscan
  [ -e plug_in.so ]
}
check 'the shared library' sh -c "cd '$root' && $(echo "$shared" | sed "s|-o |-o '$work/'|; s|^cc |$quick |; s| -O2 | |") -ldl"
check 'the shared library shows the public functions alone' shared_shows
for user in c cpp; do
  compiler=${CC:-cc}
  [ $user = cpp ] && compiler=${CXX:-c++}
  check "the shared library and a program: $user" "$compiler" -I"$root" user.$user -o "shared-$user" -L. -lgpuscan \
    "-Wl,-rpath,$work"
  check "the shared library and a program run: $user" "./shared-$user"
done
check 'a plug-in with GPUSCAN_STATIC shows nothing' library_shows_nothing unused.c
check 'a plug-in with -fvisibility=hidden shows nothing' library_shows_nothing -fvisibility=hidden implementation.c

# --- one more operator

# A program whose header has one more operator, behind XOR: its enumerator and its row are all that it takes. Code that
# compares operators' numbers, or indexes another table by them, would compute something else or end the program.
sed 's/^    GPUSCAN_OP_XOR,$/&\
    GPUSCAN_OP_XNOR,/; s/^    X(OP_XOR, "a ^ b".*/&\
    X(OP_XNOR, "~(a ^ b)", "", "~($T)0", SUM, ~(a ^ b)) \\/' "$root/gpuscan.h" > xnor.h
cat > xnor.c <<'END'
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_IMPLEMENTATION
#include "xnor.h"
#include <stdio.h>

int main(void) {
    static uint8_t src[5000], dst[5000];
    uint8_t expected = 0xff;
    gpuscan *gs = NULL;
    gpuscan_scan_desc scan;
    int i;
    memset(&scan, 0, sizeof scan);
    scan.kind = GPUSCAN_INCLUSIVE;
    scan.src_type = GPUSCAN_TYPE_U8; /* whose words are computed at once by the operators that can */
    scan.dst_type = GPUSCAN_TYPE_U8;
    scan.op = GPUSCAN_OP_XNOR;
    scan.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    for (i = 0; i < 5000; i++)
        src[i] = (uint8_t)(i * 151);
    if (gpuscan_create(&gs, NULL) != GPUSCAN_SUCCESS || gpuscan_scan_host(gs, src, dst, 5000, &scan) != GPUSCAN_SUCCESS)
        printf("%s\n", gpuscan_error(gs));
    for (i = 0; i < 5000; i++) {
        expected = (uint8_t)~(expected ^ src[i]);
        if (dst[i] != expected) {
            printf("%u instead of %u at %d\n", dst[i], expected, i);
            break;
        }
    }
    gpuscan_destroy(gs);
    return 0;
}
END
check 'one more operator' "${CC:-cc}" -std=c99 $c_warnings -fsanitize=undefined -fno-sanitize-recover=undefined \
  xnor.c -o xnor -ldl
check 'one more operator computes' ./xnor

# --- what compilers may do to floating-point numbers

check 'even bins of floats' "$quick" -std=c99 $c_warnings "$root/tests/float_bins.c" -o float_bins -ldl
./float_bins > float_bins.txt
same_bins() {
  { "$@" "$root/tests/float_bins.c" -o other_bins -ldl && ./other_bins | diff float_bins.txt - ; } 2>&1
}
for compiler in gcc clang; do
  have "$compiler" || continue
  for flags in -ffast-math '-O2 -ffast-math' '-O3 -ffast-math' '-O2 -mfpmath=387' '-O3 -mfpmath=387 -ffast-math'; do
    # clang has no such choice
    case $compiler$(uname -m)$flags in clang*387* | *aarch64*387* | *arm*387*) continue ;; esac
    check "$compiler $flags: the same bins of floats" same_bins "$compiler" -std=gnu99 $flags
  done
done

# --- the kernels

check 'gpuscan.h holds the kernels as they are' sh -c "'$root/tools/embed' --check > embed.txt 2>&1 || cat embed.txt"

# A comment names the figures behind it, "tuning: NAME, NAME", which are rows of tools/figures/*.csv, and so does the
# README. Prints the names that have no row or that nothing quotes, and whatever is not a row.
wrong_figures() {
  name='(scan|select|runs|reduce|segments|sort|histogram|quantile|integral|device|host)-[a-z0-9-]+'
  cat "$root/gpuscan.h" "$root/kernels.cl.inc" "$root/README.md" | tr '\n' ' ' | tr -s ' ' | grep -o -E '.{30}tuning: .{30}' |
    grep -v -E "tuning: $name"
  cat "$root/gpuscan.h" "$root/kernels.cl.inc" "$root/README.md" | tr '\n' ' ' | tr -s ' ' | grep -o -E "tuning: $name(, $name)*" |
    sed 's/^tuning: //' | tr -d ' ' | tr ',' '\n' | sort -u > quoted.txt
  for csv in "$root"/tools/figures/*.csv; do
    [ "$(head -1 "$csv")" = 'name,device,driver,commit,date,case,us' ] || echo "$csv: the first line names no columns"
    tail -n +2 "$csv" | grep -n -v -E \
      "^$name,[^,]+,[^,]*,[0-9a-f]{7,},20[0-9]{2}-[0-9]{2}-[0-9]{2},[^,]*,[0-9.]+(x|GB/s|%)?$" | sed "s|^|$csv: |"
    tail -n +2 "$csv" | cut -d , -f 1
  done | tee rows.txt | grep ': '
  grep -v ': ' rows.txt | sort -u | diff quoted.txt -
}
check 'the figures that comments name' wrong_figures

# The programs that the library would build on devices of all sorts, as the OpenCL C that the device would get; every
# fifth as each later version, too. PTX wants NVIDIA's target, and the builtins of AMD's lanes AMD's. By default every
# sixteenth program, with another seed others. LLVM's translator to SPIR-V, which rusticl runs in the caller's process,
# aborts on vectors whose length OpenCL does not have; clang makes one of a single element for as_uint2(1ul).
cat > kernel.sh << 'END'
one() {
  action=-fsyntax-only
  [ "$target" = spir64 ] && action='-O0 -S -emit-llvm -o -'
  # shellcheck disable=SC2086 # words
  if clang -target $target -x cl "-cl-std=$1" $action -Wall -Wshadow -Wno-unused-function -Wno-unused-variable \
    -Wno-tautological-compare -Wno-constant-logical-operand -Xclang -finclude-default-header \
    -Xclang -cl-ext=+all -Werror "$file" > "$file.ll" 2> "$file.txt" &&
    ! grep -oE '<[0-9]+ x [a-z]' "$file.ll" | grep -vE '<([2348]|16) x' > "$file.txt"
  then
    echo ok
  else
    echo "FAILED: clang -target $target -x cl -cl-std=$1: $file"
    head -5 "$file.txt"
  fi
}
for file; do
  target=spir64
  grep -q 'GPUSCAN_PTX [1-9]' "$file" && target=nvptx64
  grep -q 'define GPUSCAN_LANES_KIND 4' "$file" && target='amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib'
  case $(head -1 "$file") in *CL2.0*) lowest=CL2.0 ;; *CL3.0*) lowest=CL3.0 ;; *) lowest=CL1.2 ;; esac
  one $lowest
  case $file in
    *[05].cl) [ $lowest = CL1.2 ] && one CL2.0 ;;
    *[27].cl) [ $lowest = CL3.0 ] || one CL3.0 ;;
  esac
done
END
mkdir -p programs.d
check 'the programs of all devices' "${CC:-cc}" -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=undefined \
  $c_warnings "$root/tests/programs.c" -o programs -ldl
parts=16
[ -n "$all" ] && parts=1
check 'the programs of all devices are written' sh -c \
  "./programs programs.d $parts $((turn % parts)) > programs.txt"
check 'the kernels of a call' sh -c "./programs --kernels scan u8 5000 |
  grep -c '^amd .* single pass, 64 lanes, .*: gpuscan_look_back$' | grep -v '^1$'; true"
# In each of NVIDIA's programs with a folding group, all lanes have read the prefix before one writes the next. No test
# sees it: today's compilers bring the lanes together a few instructions before.
folding_programs() {
  grep -l 'GPUSCAN_PTX [1-9]' programs.d/*.cl | xargs grep -l 'GPUSCAN_AHEAD 1'
}
lanes_meet() {
  for file in $(folding_programs); do
    clang -target nvptx64 -x cl -cl-std=CL1.2 -E -P -w "$file" | tr -s '\n ' ' ' |
      grep -q 'shared->prefix; __asm__ volatile("bar.warp.sync' || return 1
  done
}
# Arrays that a sort passes to a function that is not inlined lie in memory. The programs with OpenCL's lanes.
arrays_stay() {
  for file in $(grep -l 'GPUSCAN_LANES_KIND 2' programs.d/*.cl | xargs grep -l 'GPUSCAN_SORT 1'); do
    clang -target spir64 -x cl -cl-std=CL3.0 -O2 -S -emit-llvm -w -Xclang -finclude-default-header \
      -Xclang -cl-ext=+all "$file" -o arrays.ll || return 1
    ! grep -E 'define internal .*struct.gpuscan_sort_(call|pass|tile)' arrays.ll || return 1
  done
}
# A launch that traps takes the caller's context with it.
check 'no program traps' sh -c "! grep -l 'trap;' programs.d/*.cl"
# What cards of an older compute capability do not have is in none of their programs. The capabilities are those of
# NVIDIA's "PTX ISA"; every second of these programs.
has_instructions() {
  found=0
  for file in $(grep -l 'GPUSCAN_PTX 90' programs.d/*.cl | awk 'NR % 2 == 1'); do
    for card in 70 80 90; do
      case $card in
        70) newer='createpolicy|cache_hint|cp[.]async|redux' ;;
        80) newer='cp[.]async[.]bulk' ;;
        90) newer='' ;;
      esac
      sed "s/GPUSCAN_PTX 90/GPUSCAN_PTX $card/" "$file" |
        clang -target nvptx64 -x cl -cl-std=CL1.2 -E -P -w - > instructions.txt || return 1
      [ -n "$newer" ] && grep -E "$newer" instructions.txt
      [ -z "$newer" ] && found=$((found + $(grep -cE 'createpolicy|cp[.]async[.]bulk' instructions.txt)))
    done
  done
  [ "$found" -gt 0 ] || echo 'no program has any of them'
}
if have clang; then
  check 'the mutants that mutate.sh leaves out' sh "$root/tests/mutate.sh" --check
  check 'older cards are not asked for newer instructions' has_instructions
  check "a sort's arrays stay in registers" arrays_stay
  if [ -n "$all" ] || [ -n "$(folding_programs)" ]; then
    check 'lanes meet before one writes what the others read' lanes_meet
  else
    left_out "NVIDIA's programs with a folding group, which other seeds have"
  fi
  find programs.d -name '*.cl' | sort | xargs -n 20 -P 2 sh kernel.sh > kernels.txt 2>&1
  grep -v '^ok$' kernels.txt | head -40
  passed=$((passed + $(grep -c '^ok$' kernels.txt)))
  failed=$((failed + $(grep -c '^FAILED' kernels.txt)))
else
  left_out 'the kernels through clang, which is not installed'
fi

# --- code in text

# header_lines FIRST LAST: the code in the header's first comment from the line with FIRST to the line with LAST.
header_lines() {
  awk -v first="$1" -v last="$2" '
    index($0, first) { found = 1 }
    found { print; if (index($0, last)) exit }
  ' "$root/gpuscan.h"
}
{ printf '#define GPUSCAN_IMPLEMENTATION\n#include "gpuscan.h"\n'; header_lines '#include <stdio.h>' ' }'; } > snippet.c
check 'the header'"'"'s program' "$quick" -std=c99 $c_warnings -I"$root" snippet.c -o snippet -ldl
check 'the header'"'"'s program runs' sh -c './snippet > snippet.txt 2>&1; test "$(cat snippet.txt)" = 22 || cat snippet.txt'
header_lines 'gpuscan_info info;' clEnqueueReadBuffer > lines.txt
{ echo '#define GPUSCAN_LINK_OPENCL'; sed -e '/gpuscan_scan_host/{r lines.txt' -e 'd;}' snippet.c; } > buffers.c
check 'the header'"'"'s program with buffers' "$quick" -std=c99 $c_warnings -Wno-missing-field-initializers -I"$root" \
  buffers.c -o buffers -lOpenCL
check 'the header'"'"'s program with buffers runs' sh -c './buffers > buffers.txt 2>&1; test "$(cat buffers.txt)" = 22 ||
  cat buffers.txt'

# The documents' programs: they compile, run, and print what the remarks behind their printf lines say.
documents='README.md examples/README.md tests/README.md tools/figures/README.md tools/packages/README.md'
for document in $documents; do
  name=$(echo "${document%.md}" | tr / _)
  awk -v name="$name" '
    /^```c$/ { inside = 1; file = name (++count) ".c"; next }
    /^```/ { inside = 0 }
    inside { print > file }
  ' "$root/$document"
  # Links lead to files of the repository.
  for link in $(grep -o ']([^)#]*' "$root/$document" | cut -c 3- | grep -v '^https:'); do
    check "$document: link to $link" test -e "$root/$(dirname "$document")/$link"
  done
done
for file in README2.c examples_README5.c; do
  check "documents: $file is found" test -e "$file"
done
for file in *README[0-9].c; do
  libraries=-ldl
  grep -q 'define GPUSCAN_LINK_OPENCL' "$file" && libraries=-lOpenCL
  # "= {0}" is good C, and what the documents teach
  check "documents: $file" "$quick" -std=c99 $c_warnings -Wno-missing-field-initializers -I"$root" "$file" \
    -o "${file%.c}" $libraries
  sed -n 's|.*printf.*/\* \(.*\) \*/$|\1|p' "$file" > expected.txt
  check "documents: $file runs" sh -c "./${file%.c} > said.txt 2>&1 && cmp -s expected.txt said.txt || cat expected.txt said.txt"
done

check 'the places of changes in tests/README.md' sh "$root/tests/places.sh" --check

# --- lines of at most 120 columns, but for the embedded kernels, whose source tools/embed checks

check 'columns of gpuscan.h' awk '!/^"/ && length($0) > 120 { print FILENAME ":" FNR }' "$root/gpuscan.h"

# --- the other C files of the repository

warnings=$own_warnings
c_warnings="$warnings -Wstrict-prototypes -Wc++-compat"

for file in "$root"/examples/*.c "$root"/tools/*.c; do
  [ -e "$file" ] || continue
  if grep -q 'stb_image' "$file" "$root"/examples/*.h 2> /dev/null && ! echo '#include <stb/stb_image.h>' |
    "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null; then
    left_out "$(basename "$file"): no stb_image.h"
    continue
  fi
  more=
  if grep -q '<mpi.h>' "$file"; then
    have mpicc || { left_out "$(basename "$file"): no mpicc"; continue; }
    more=$(mpicc --showme:compile | sed 's/-I/-isystem /g')
  fi
  missing=
  for header in EGL/egl.h vulkan/vulkan.h; do
    grep -q "<$header>" "$file" && ! echo "#include <$header>" | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null && missing=$header
  done
  [ -z "$missing" ] || { left_out "$(basename "$file"): no $missing"; continue; }
  check "$(basename "$file")" "${CC:-cc}" -std=c99 -O1 $c_warnings $more -I"$root" -fsyntax-only "$file"
  [ -n "$all" ] && have clang &&
    check "$(basename "$file") with clang" clang -std=c99 $c_warnings $more -I"$root" -fsyntax-only "$file"
done
[ -e "$root/examples/engine.c" ] &&
  check 'engine.c as C++' "${CXX:-c++}" -std=c++11 $warnings -I"$root" -fsyntax-only -x c++ "$root/examples/engine.c"

[ "$others" -gt 0 ] && left_out "$others checks of the syntax, which other seeds have"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
