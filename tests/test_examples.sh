#!/bin/sh
# Tests of examples beyond examples/run.sh: wrong arguments, many ranks, ranks without elements, a rank that fails,
# several devices in one process, particles in OpenGL, pictures that cannot be written, Python. Called by tests/run.sh.
# The last line is "N passed, N failed".

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/test_examples
mkdir -p "$work" && cd "$work" || exit 1
passed=0
failed=0

have() {
  command -v "$1" > /dev/null 2>&1
}

left_out() {
  echo "left out: $1"
}

# Nothing here is timed: clang takes a quarter of gcc's time without optimization, which `unoptimized` takes away.
quick=${CC:-cc}
[ -z "$CC" ] && have clang && quick=clang
export OMPI_CC="$quick"
printf '#!/bin/sh\nexec %s "$@" -O0\n' "$quick" > unoptimized && chmod +x unoptimized || exit 1

# check NAME STATUS PATTERN COMMAND...: ends within two minutes with the status (wrong: any but 0), and a line of what it
# says matches the pattern.
check() {
  name=$1 status=$2 pattern=$3
  shift 3
  timeout 120 "$@" > out.txt 2>&1
  got=$?
  if grep -q "$pattern" out.txt && case $status in wrong) [ $got -ne 0 ] && [ $got -ne 124 ] ;; *) [ $got = "$status" ] ;; esac
  then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: status $got: $*"
    tail -20 out.txt
  fi
}

# compile PROGRAM: with the command in its first line.
compile() {
  command=$(sed -n '1s/^[ /*]*//; 1s/  *(.*//; 1p' "$root/examples/$1.c" |
    sed "s|^cc |$quick |; s| -O[23]| -O0|; s|-o [a-z_]*|-o '$work/$1'|")
  (cd "$root/examples" && eval "$command")
}

# misused PROGRAM: says how it is called, and takes no nonsense for arguments.
misused() {
  program=$1
  check "$program: --help" 0 "^usage: $program\\>" "./$program" --help
  for wrong in --nothing '1 2 3 4 5 6 7'; do
    # shellcheck disable=SC2086
    check "$program: '$wrong'" 2 "^usage: $program\\>" "./$program" $wrong
  done
  check "$program: no file of that name" 0 '^none$' sh -c 'ls -- --help --nothing 2> /dev/null || echo none'
}

check 'run.sh: no example of that name' 2 '^usage: sh examples/run.sh \[--all | NAME...\]$' sh "$root/examples/run.sh" nothing

# ---- every example has its arguments looked at, and numbers taken in whole, in the one way

for source in "$root"/examples/*.c; do
  program=$(basename "$source" .c)
  check "$program: no number is taken in part" 0 '^seen$' sh -c "grep -E '\\<(atoi|atof|strtou?ll?)\\(' '$source' || echo seen"
  [ "$program" = prefix_sum ] || [ "$program" = mpi_scan ] ||
    check "$program: usage" 0 . grep "^    take_arguments(argc, argv, .*\"$program\\>" "$source"
  check "$program: run.sh knows it" 0 "^The names:.* $program\\>" sh -c "sh '$root/examples/run.sh' nothing 2>&1 || true"
done

# ---- what is missing gets named

mkdir -p setup/tools
# a row more, of what no machine has; and nothing is installed from here
awk '{ print } /^things=/ { print "no-such-thing|examples|useful|none|a thing that is nowhere" }' "$root/tools/setup" |
  sed 's/\[ "$(id -u)" = 0 \]/false/' > setup/tools/setup
check 'setup' 0 '^    useful: a thing that is nowhere$' sh setup/tools/setup examples

# ---- one process, several devices

if compile many_devices; then
  check 'many devices' 0 'joined in two ways: as in a loop' ./many_devices 100003
  # PoCL makes as many devices of a CPU as it is told; others do not listen
  check 'three devices' 0 'joined in two ways: as in a loop' env POCL_DEVICES='pthread basic pthread' ./many_devices 100003
  check 'more devices than elements' 0 'joined in two ways: as in a loop' env POCL_DEVICES='pthread basic pthread' \
    ./many_devices 2
  check 'no device of that name' wrong "none of .* devices has 'nothing'.*there are '" env GPUSCAN_DEVICE=nothing ./many_devices
  misused many_devices
  for wrong in 12x 0 -1 1.5 nan '' '5 5 5'; do
    # shellcheck disable=SC2086
    check "many devices: '$wrong'" 2 '^usage: many_devices \[' ./many_devices ${wrong:-"$wrong"}
  done
  check 'many devices: 1e3' 0 '1,000 .*as in a loop' ./many_devices 1e3
  [ ! -c /dev/full ] || check 'many devices on a full disk' 1 '^standard output: ' sh -c './many_devices 1000 > /dev/full'
else
  failed=$((failed + 1))
  echo 'FAILED: many_devices.c'
fi

# ---- a program that has a device and a cache of its own

if compile engine; then
  misused engine
  # a cache that cannot be written is no failure: its status is 0, which says that all is as on the CPU
  check 'engine: a device by its platform, a cache in no folder' 0 '^cache: none/engine.cache: No such file' \
    env GPUSCAN_DEVICE='Portable Computing' LC_ALL=C ./engine none/engine.cache
  check 'engine: no device of that name' 1 "none of .* devices has 'nothing'.*there are '" env GPUSCAN_DEVICE=nothing ./engine
else
  failed=$((failed + 1))
  echo 'FAILED: engine.c'
fi

# ---- ranks

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
if ! have mpicc || ! have mpirun; then
  left_out 'mpi_scan, no mpicc'
elif compile mpi_scan; then
  # first, so that the four ranks find its programs built
  check 'one rank, by its platform' 0 'on 1 ranks: as on one rank' env GPUSCAN_DEVICE='Portable Computing' ./mpi_scan 1e3
  check 'four ranks' 0 'scans and a histogram on 4 ranks: as on one rank' mpirun --oversubscribe -n 4 ./mpi_scan 100003
  check 'four ranks, three elements' 0 'on 4 ranks: as on one rank' mpirun --oversubscribe -n 4 ./mpi_scan 3
  check 'ranks: --help' 0 '^1$' sh -c "mpirun --oversubscribe -n 4 ./mpi_scan --help | grep -c '^usage: mpi_scan \['"
  for wrong in --nothing 12x 0 1.5 nan '5 --check'; do
    # shellcheck disable=SC2086
    check "ranks: '$wrong'" 2 '^usage: mpi_scan \[' ./mpi_scan $wrong
  done
  check 'four ranks that are misused' 2 '^usage: mpi_scan \[' mpirun --oversubscribe -n 4 ./mpi_scan 12x
  [ ! -c /dev/full ] || check 'a rank on a full disk' 1 'standard output: ' sh -c './mpi_scan 1000 > /dev/full'
  rm -rf both && mkdir both && cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd both
  cp /etc/OpenCL/vendors/*usticl*.icd both 2> /dev/null
  if RUSTICL_ENABLE=llvmpipe GPUSCAN_DEVICE=llvmpipe OCL_ICD_VENDORS="$work/both/" ./mpi_scan 100 > /dev/null 2>&1; then
    # a rank with doubles beside one without: both leave these out
    check 'ranks with and without doubles' 0 'mpi_scan: 5 scans and a histogram on 2 ranks: as on one rank' \
      env OCL_ICD_VENDORS="$work/both/" RUSTICL_ENABLE=llvmpipe timeout 120 mpirun --oversubscribe -n 1 -x GPUSCAN_DEVICE=pthread \
      ./mpi_scan 10000 : -n 1 -x GPUSCAN_DEVICE=llvmpipe ./mpi_scan 10000
  else
    left_out 'ranks with and without doubles: no rusticl, or one whose compiler the self-tests find wrong (Mesa 22.3)'
  fi
  check 'a rank that fails' wrong "rank 1: no device: none of .* devices has 'nothing'.*there are '" mpirun --oversubscribe -n 1 ./mpi_scan 1000 : \
    -n 1 -x GPUSCAN_DEVICE=nothing ./mpi_scan 1000
  # one that is killed in the middle
  check 'a rank that is killed' wrong 'Exit code: *137\|signal 9\|mpirun' mpirun --oversubscribe -n 1 ./mpi_scan 4e7 : \
    -n 1 timeout -s KILL 1 ./mpi_scan 4e7
else
  failed=$((failed + 1))
  echo 'FAILED: mpi_scan.c'
fi

# ---- the recipes of examples/README.md name what the examples use

recipes=$(sed -n '/^## Buffers shared with OpenGL and Vulkan/,/^## Several devices/p' "$root/examples/README.md")
for name in $(echo "$recipes" | grep -o -E '\<(cl|gl|egl|vk|Vk|CL_|GL_|EGL_|VK_)[A-Za-z_]*[A-Z][A-Za-z_]*' | sort -u); do
  check "the recipe's $name" 0 . grep -w "$name" "$root/examples/gl_particles.c" "$root/examples/vulkan_scan.c"
done

# ---- what is compiled among the examples is not in git's way

if have git && git -C "$root" rev-parse --git-dir > /dev/null 2>&1; then
  for source in "$root"/examples/*.c "$root"/tools/*.c; do
    program=${source#"$root/"}
    program=${program%.c}
    check "$program is ignored" 0 . git -C "$root" check-ignore "$program"
    check "$program.c is not" 0 '^seen$' sh -c "git -C '$root' check-ignore -q $program.c || echo seen"
  done
else
  left_out 'what git ignores, no git'
fi

# ---- OpenGL, where the particles go through the host unless a driver shares its buffers

if ! echo '#include <EGL/egl.h>' | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null; then
  left_out 'gl_particles, no EGL'
elif compile gl_particles; then
  ./gl_particles --host probe.png 10 > probe.txt 2>&1
  if grep -q '^EGL: ' probe.txt; then
    left_out "gl_particles: $(cat probe.txt)"
  else
    misused gl_particles
    check 'twelve particles' 0 'every pixel as a loop draws it' ./gl_particles few.png 12
    check 'the devices of the particles' 0 '^2$' sh -c "./gl_particles few.png 12 | grep -c '^OpenGL: .\|^device: .*(.*)'"
    check 'particles' 0 'every pixel as a loop draws it' ./gl_particles particles.png 20000
    check 'particles through the host' 0 'through the host.*every pixel as a loop draws it' ./gl_particles --host host.png 20000
    check 'the same picture' 0 0 sh -c 'cmp particles.png host.png; echo $?'
  fi
else
  failed=$((failed + 1))
  echo 'FAILED: gl_particles.c'
fi

# ---- Vulkan, likewise

if ! echo '#include <vulkan/vulkan.h>' | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null; then
  left_out 'vulkan_scan, no Vulkan'
elif compile vulkan_scan; then
  ./vulkan_scan --host 10 > probe.txt 2>&1
  if grep -q '^vkCreateInstance: \|^Vulkan: there is no device' probe.txt; then
    left_out "vulkan_scan: $(tail -1 probe.txt)"
  else
    misused vulkan_scan
    check 'Vulkan' 0 '100,003 elements.*every sum as in a loop' ./vulkan_scan 100003
    check 'Vulkan through the host' 0 'through the host.*every sum as in a loop' ./vulkan_scan --host 1
    check 'the devices of Vulkan and OpenCL' 0 '^2$' \
      sh -c "./vulkan_scan --host 1 | grep -c '^Vulkan: .\|^device: .*(.*)'"
  fi
else
  failed=$((failed + 1))
  echo 'FAILED: vulkan_scan.c'
fi

# ---- Python

python=
for candidate in python3 /usr/bin/python3; do
  [ -z "$python" ] && "$candidate" -c 'import numpy' 2> /dev/null && python=$candidate
done
if [ -n "$python" ]; then
  check 'Python' 0 'scan.py: as numpy has it' env CC="$work/unoptimized" "$python" "$root/examples/scan.py"
  check 'Python: --help' 2 '^usage: scan.py$' "$python" "$root/examples/scan.py" --help
  check 'Python: no device of that name' 1 "none of .* devices has 'nothing'" env GPUSCAN_DEVICE=nothing "$python" \
    "$root/examples/scan.py"
  # the library of another version: its structs are refused before anything is called
  sed 's/^    const char  *\*library; .*/    int more; &/' "$root/gpuscan.h" > gpuscan.h
  "$quick" -shared -fPIC -DGPUSCAN_IMPLEMENTATION -x c gpuscan.h -o other.so -ldl
  check 'Python: a library of other structs' 1 'gpuscan_desc differs' env GPUSCAN_LIBRARY="$work/other.so" "$python" \
    "$root/examples/scan.py"
  mkdir -p python/without && cp "$root/examples/scan.py" "$root/gpuscan.h" python
  echo 'raise ImportError("there is none")' > python/without/numpy.py
  check 'Python: no numpy' 1 'scan.py: .*numpy' env PYTHONPATH=python/without "$python" python/scan.py
  rm -rf python/__pycache__
  check 'Python: no compiler' 1 'scan.py: no C compiler no-such-compiler' env -u GPUSCAN_LIBRARY CC=no-such-compiler "$python" \
    python/scan.py
  # what is compiled has its name only when it is whole: others may look for it meanwhile
  cat > python/compiler <<'END'
#!/bin/sh
[ -e python/__pycache__/libgpuscan.so ] && exit 1
for word; do
  [ "$before" = -o ] && echo whole > "$word"
  before=$word
done
[ ! -e python/__pycache__/libgpuscan.so ]
END
  chmod +x python/compiler
  check 'Python: the library gets its name when it is whole' 0 '^whole 1$' env CC=python/compiler PYTHONPATH=python sh -c \
    "'$python' -c 'import scan; scan.build_library()' && echo \$(cat python/__pycache__/libgpuscan.so) \$(ls python/__pycache__ | grep -c libgpuscan)"
else
  left_out 'scan.py, no python3 with numpy'
fi

# ---- a profile's numbers for another device

if "$quick" -std=c99 -w -O0 -o bench "$root/tools/bench.c" -lm -ldl; then
  check "bench --tune: the numbers of reductions" 0 '^    profile->reduce.strategy = GPUSCAN_STRATEGY_' ./bench --tune \
    --quick --only reduce
  { printf '#define GPUSCAN_IMPLEMENTATION\n#include "gpuscan.h"\nvoid set(gpuscan__profile *profile) {\n'
    sed -n '/^    profile->/p' out.txt
    echo '}'
  } > numbers.c
  check 'bench --tune: every number is a field' 0 '^whole$' sh -c \
    "grep -q segments.row_lanes numbers.c &&
     '$quick' -std=c99 -Wextra -Werror -I'$root' -fsyntax-only numbers.c && echo whole"
else
  failed=$((failed + 1))
  echo 'FAILED: bench.c'
fi

# ---- what cannot be written

picture=$root/tools/figures/cpu-scan.png
if ! echo '#include <stb/stb_image_write.h>' | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null; then
  left_out 'pictures, no stb_image_write.h'
elif [ ! -c /dev/full ]; then
  left_out 'pictures that cannot be written, no /dev/full'
elif compile histogram; then
  misused histogram
  check 'a picture' 0 "equal to the CPU's counts" ./histogram "$picture" histogram.png
  check 'a picture on a full disk' wrong '/dev/full: cannot write the picture' ./histogram "$picture" /dev/full
  check 'a picture in no folder' wrong 'none/h.png: cannot write the picture' ./histogram "$picture" none/h.png
else
  failed=$((failed + 1))
  echo 'FAILED: histogram.c'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
