#!/bin/sh
# What examples/run.sh does not show: many ranks, ranks that have no elements, a rank that fails; several devices in one
# process; particles in OpenGL; pictures that cannot be written; Python. Called by tests/run.sh. The last line is "N passed, N failed".

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
    sed "s|^cc |${CC:-cc} |; s| -O[23]| -O1|; s|-o [a-z_]*|-o '$work/$1'|")
  (cd "$root/examples" && eval "$command")
}

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
else
  failed=$((failed + 1))
  echo 'FAILED: many_devices.c'
fi

# ---- ranks

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
if ! have mpicc || ! have mpirun; then
  left_out 'mpi_scan, no mpicc'
elif compile mpi_scan; then
  check 'four ranks' 0 'scans and a histogram on 4 ranks: as on one rank' mpirun --oversubscribe -n 4 ./mpi_scan 100003
  check 'four ranks, three elements' 0 'on 4 ranks: as on one rank' mpirun --oversubscribe -n 4 ./mpi_scan 3
  check 'one rank' 0 'on 1 ranks: as on one rank' ./mpi_scan 1000
  if RUSTICL_ENABLE=llvmpipe GPUSCAN_DEVICE=llvmpipe OCL_ICD_VENDORS= ./many_devices 100 > /dev/null 2>&1; then
    # a rank with doubles beside one without: both leave these out
    check 'ranks with and without doubles' 0 'mpi_scan: 5 scans and a histogram on 2 ranks: as on one rank' \
      env OCL_ICD_VENDORS= RUSTICL_ENABLE=llvmpipe timeout 120 mpirun --oversubscribe -n 1 -x GPUSCAN_DEVICE=pthread \
      ./mpi_scan 10000 : -n 1 -x GPUSCAN_DEVICE=llvmpipe ./mpi_scan 10000
  else
    left_out 'ranks with and without doubles, no rusticl'
  fi
  check 'a rank that fails' wrong 'rank 1: nothing: no device has this' mpirun --oversubscribe -n 1 ./mpi_scan 1000 : \
    -n 1 -x GPUSCAN_DEVICE=nothing ./mpi_scan 1000
else
  failed=$((failed + 1))
  echo 'FAILED: mpi_scan.c'
fi

# ---- OpenGL, where the particles go through the host unless a driver shares its buffers

if ! echo '#include <EGL/egl.h>' | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null; then
  left_out 'gl_particles, no EGL'
elif compile gl_particles; then
  ./gl_particles --host probe.png 10 > probe.txt 2>&1
  if grep -q '^EGL: ' probe.txt; then
    left_out "gl_particles: $(cat probe.txt)"
  else
    check 'particles' 0 'every pixel as a loop draws it' ./gl_particles particles.png 20000
    check 'particles through the host' 0 'through the host.*every pixel as a loop draws it' ./gl_particles --host host.png 20000
    check 'the same picture' 0 0 sh -c 'cmp particles.png host.png; echo $?'
    check 'twelve particles' 0 'every pixel as a loop draws it' ./gl_particles few.png 12
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
    check 'Vulkan' 0 '100,003 elements.*every sum as in a loop' ./vulkan_scan 100003
    check 'Vulkan through the host' 0 'through the host.*every sum as in a loop' ./vulkan_scan --host 1
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
  check 'Python' 0 'scan.py: as numpy has it' "$python" "$root/examples/scan.py"
  check 'Python: no device of that name' 1 "none of .* devices has 'nothing'" env GPUSCAN_DEVICE=nothing "$python" \
    "$root/examples/scan.py"
  # the library of another version: its structs are refused before anything is called
  sed 's/^    const char  *\*library; .*/    int more; &/' "$root/gpuscan.h" > gpuscan.h
  "${CC:-cc}" -shared -fPIC -DGPUSCAN_IMPLEMENTATION -x c gpuscan.h -o other.so -ldl
  check 'Python: a library of other structs' 1 'gpuscan_desc differs' env GPUSCAN_LIBRARY="$work/other.so" "$python" \
    "$root/examples/scan.py"
else
  left_out 'scan.py, no python3 with numpy'
fi

# ---- what cannot be written

picture=$root/tools/figures/cpu-scan.png
if ! echo '#include <stb/stb_image_write.h>' | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null; then
  left_out 'pictures, no stb_image_write.h'
elif [ ! -c /dev/full ]; then
  left_out 'pictures that cannot be written, no /dev/full'
elif compile histogram; then
  check 'a picture' 0 "equal to the CPU's counts" ./histogram "$picture" histogram.png
  check 'a picture on a full disk' wrong '/dev/full: cannot write the picture' ./histogram "$picture" /dev/full
  check 'a picture in no folder' wrong 'none/h.png: cannot write the picture' ./histogram "$picture" none/h.png
else
  failed=$((failed + 1))
  echo 'FAILED: histogram.c'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
