#!/bin/sh
# Static analysis without findings: sh tests/analyze.sh
#
# clang-tidy, gcc -fanalyzer and cppcheck over gpuscan.h's implementation, the examples and tools/bench.c. The checks
# that are left out stand below, each with its reason. Tools that are not installed are named and left out. The last line
# is "N passed, N failed".

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/analyze
mkdir -p "$work" && cd "$work" || exit 1
passed=0
failed=0

have() {
  command -v "$1" > /dev/null 2>&1
}

# check NAME COMMAND...: the command succeeds and prints no finding.
check() {
  name=$1
  shift
  "$@" > out.txt 2>&1
  status=$?
  if [ $status -eq 0 ] && ! grep -qE 'warning:|error:|style:|performance:|portability:' out.txt; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    grep -E -A4 'warning:|error:|style:|performance:|portability:' out.txt | head -60
  fi
}

# The implementation is analysed once, by itself: a program is given the interface only.
alone() {
  case $1 in implementation.c) ;; *) echo "-I$root -DGPUSCAN__IMPLEMENTED" ;; esac
}

printf '#define GPUSCAN_IMPLEMENTATION\n#include "%s/gpuscan.h"\n' "$root" > implementation.c
cp implementation.c implementation.cpp
sources="$root/examples/prefix_sum.c $root/examples/histogram.c $root/examples/engine.c $root/examples/methods.c
  $root/tools/bench.c"
sources="$sources $root/tools/start.c"
[ -e /usr/include/stb/stb_image.h ] && sources="$sources $root/examples/equalize.c $root/examples/clahe.c
  $root/examples/auto_exposure.c $root/examples/box_blur.c $root/examples/adaptive_threshold.c"
[ -e /usr/include/EGL/egl.h ] && [ -e /usr/include/stb/stb_image.h ] && sources="$sources $root/examples/gl_particles.c"
[ -e /usr/include/vulkan/vulkan.h ] && sources="$sources $root/examples/vulkan_scan.c"

# bugprone-easily-swappable-parameters: sizes stand beside sizes in every function about arrays.
# bugprone-implicit-widening-of-multiplication-result: small constants, at compile time.
# bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp: a double underscore inside of a name is ours, see style.
# bugprone-macro-parentheses: macro parameters that are types and names.
# bugprone-assignment-in-if-condition: the first failure of several steps, (r = step()) != 0 || (r = next()) != 0.
# bugprone-branch-clone: rows of a case table that happen to be alike.
# bugprone-suspicious-include, cert-err33-c: results of printf and snprintf, cut on purpose.
# bugprone-narrowing-conversions: -Wconversion, an error in compile.sh, is the stricter one.
# cert-err34-c: atoi of the bench's arguments.
# cert-env33-c, cert-msc30-c, cert-msc50-cpp: the examples' system and rand.
# cert-exp42-c, cert-flp37-c, bugprone-suspicious-memory-comparison: keys are compared as bytes, and cleared as such.
# bugprone-sizeof-expression: OpenCL's handles are pointers.
# cert-flp30-c, bugprone-integer-division: the ticks of the examples' axes; a whole number of bins for each stop.
# clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling: asks for C11's Annex K, which no libc has.
# clang-analyzer-optin.performance.Padding: layout of structs that exist once.
tidy='-*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters'
tidy=$tidy,-bugprone-implicit-widening-of-multiplication-result,-bugprone-reserved-identifier,-cert-dcl37-c
tidy=$tidy,-cert-dcl51-cpp,-bugprone-macro-parentheses,-bugprone-assignment-in-if-condition,-bugprone-branch-clone
tidy=$tidy,-bugprone-suspicious-include,-cert-err33-c,-bugprone-narrowing-conversions,-cert-err34-c,-cert-env33-c
tidy=$tidy,-cert-msc30-c,-cert-msc50-cpp,-cert-exp42-c,-cert-flp37-c,-bugprone-suspicious-memory-comparison
tidy=$tidy,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling
tidy=$tidy,-clang-analyzer-optin.performance.Padding,-bugprone-sizeof-expression,-cert-flp30-c,-bugprone-integer-division

# Of the programs only. FloatLoopCounter: the axes' ticks. StackAddressEscape: descs that live from frame to frame, with
# an event of the last call, which is set anew before each. NonNullParamChecker: it takes a variadic function that ends
# the program for one that returns.
of_programs=-clang-analyzer-security.FloatLoopCounter,-clang-analyzer-core.StackAddressEscape
of_programs=$of_programs,-clang-analyzer-core.NonNullParamChecker

if have clang-tidy; then
  # shellcheck disable=SC2086
  for source in implementation.c $sources; do
    case $source in implementation.c) checks=$tidy ;; *) checks=$tidy,$of_programs ;; esac
    check "clang-tidy $(basename "$source")" clang-tidy --quiet --header-filter='gpuscan\.h|common\.h' \
      --checks="$checks" "$source" -- -std=c99 -D_POSIX_C_SOURCE=200809L $(alone "$source")
  done
else
  echo 'left out: clang-tidy is not installed'
fi

if have gcc && echo 'int main(void) { return 0; }' > try.c && gcc -fanalyzer -c try.c -o try.o 2> /dev/null; then
  # shellcheck disable=SC2086
  for source in implementation.c $sources; do
    check "gcc -fanalyzer $(basename "$source")" gcc -std=c99 -D_POSIX_C_SOURCE=200809L -O1 -fanalyzer -Wall -Wextra \
      $(alone "$source") -c "$source" -o analyzed.o
  done
else
  echo 'left out: there is no gcc with -fanalyzer'
fi

# constParameterCallback, constParameterPointer: signatures that OpenCL or a table gives.
# missingIncludeSystem, unmatchedSuppression: notes, not findings. unusedFunction: the interface.
if have cppcheck; then
  # shellcheck disable=SC2086
  for source in implementation.c $sources; do
    check "cppcheck $(basename "$source")" cppcheck --quiet --std=c99 --enable=warning,performance,portability \
      --inline-suppr --suppress=missingIncludeSystem --suppress=unmatchedSuppression --error-exitcode=1 \
      --max-configs=4 -U_WIN32 -U__APPLE__ -U_MSC_VER \
      $(alone "$source") "$source"
  done
else
  echo 'left out: cppcheck is not installed'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
