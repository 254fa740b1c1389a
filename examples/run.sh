#!/bin/sh
# sh examples/run.sh
#
# Compiles the examples into build/ and runs them on the best OpenCL device of this machine: a scan of 100,000,000
# elements, the culling of a frame's objects, splats sorted by depth, the fields of a CSV text, the words of a text,
# and the histogram, the equalisation, the blur and the black and white of a photograph, all checked against the CPU,
# with times and speed-ups; scans over all devices of this machine and over four ranks of MPI, where that is. The
# pictures go to examples/out/. What is missing gets installed first where this is Debian and root runs it; the
# photographed page for adaptive_threshold comes out of a Debian package.
# GPUSCAN_DEVICE=name picks another device, PHOTO=file another photograph, PAGE=file another page, CSV=file another table,
# TEXT=file another text.

if [ $# != 0 ]; then
  echo "usage: sh examples/run.sh (no arguments)" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$root/build
out=$root/examples/out
photo=${PHOTO:-/usr/share/sddm/themes/maldives/background.jpg}
case $photo in /*) ;; *) photo=$PWD/$photo ;; esac
page=${PAGE:-$build/page.png}
case $page in /*) ;; *) page=$PWD/$page ;; esac
case ${CSV:-/} in /*) ;; *) CSV=$PWD/$CSV ;; esac
case ${TEXT:-/} in /*) ;; *) TEXT=$PWD/$TEXT ;; esac
PHOTO=$photo PAGE=$page
# what drivers like to keep in the home folder
POCL_CACHE_DIR=$build/pocl CUDA_CACHE_PATH=$build/cuda XDG_CACHE_HOME=$build/cache
export PHOTO PAGE POCL_CACHE_DIR CUDA_CACHE_PATH XDG_CACHE_HOME

cat <<END
This checks that the examples have what they need (and installs it if it can), compiles them into
$build
and runs them: two or three minutes on two cores. The pictures go to
$out

END
sh "$root/tools/setup" examples || { echo "The examples cannot run without these." >&2; exit 1; }
mkdir -p "$build" "$out" "$POCL_CACHE_DIR" "$XDG_CACHE_HOME" || exit 1
cd "$root/examples" || exit 1

summary='' right=0 wrong=0
begin=$(date +%s)

# Compiles a program with the command in a line of its file's first comment.
#   compile FILE LINE PROGRAM
compile() {
  command=$(sed -n "$2"'s/^[ /*]*//; '"$2"'s/  *(.*//; '"$2"'p' "$1.c")
  [ "$(uname)" != Darwin ] || command=$(echo "$command" | sed 's|-lOpenCL|-framework OpenCL|')
  echo "$command"
  command=$(echo "$command" | sed "s|-o [a-z_]*|-o \"\$build/$3\"|; s|^cc |${CC:-cc} |; s|^c++ |${CXX:-c++} |")
  rm -f "$build/$3"
  eval "$command"
}

# Runs an example, by $launcher if that is set: its last line goes to the summary.
#   example PROGRAM ARGUMENTS
launcher=
example() {
  name=$1
  shift
  echo "== $name"
  if [ -f "$build/$name" ]; then
    # shellcheck disable=SC2086 # the launcher is several words
    { $launcher "$build/$name" "$@"; echo $? > "$build/$name.status"; } 2>&1 | tee "$build/$name.log"
    status=$(cat "$build/$name.status")
    last=$(tail -n 1 "$build/$name.log")
  else
    status=1 last='does not compile, see above'
  fi
  case $name in
    prefix_sum) [ "$last" = '0 3 4 11 11 15 16 22' ] || status=1 ;;
  esac
  last=${last#"$name": }
  last="$name: ${last#engine: }"
  if [ "$status" = 0 ]; then
    right=$((right + 1))
  else
    wrong=$((wrong + 1))
    last="FAILED: $last"
  fi
  summary="$summary
  $last"
  echo
}

programs='prefix_sum engine histogram equalize clahe auto_exposure box_blur adaptive_threshold methods cull splats
  csv_columns words many_devices'
! command -v mpicc > /dev/null 2>&1 || programs="$programs mpi_scan"
# Whether a header is here.
has_header() {
  echo "#include <$1>" | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null
}
! has_header EGL/egl.h || programs="$programs gl_particles"
! has_header vulkan/vulkan.h || programs="$programs vulkan_scan"
for program in $programs; do
  compile $program 1 $program & # side by side: that takes half the time
done
compile engine 2 engine_as_cpp
wait
echo
example prefix_sum
rm -f "$build/engine.cache" # the first engine starts cold, the second one warm
example engine "$build/engine.cache"
example engine_as_cpp "$build/engine.cache"
example cull
example splats "$out/splats"
example csv_columns ${CSV:+"$CSV"}
example words ${TEXT:+"$TEXT"}
if [ -f "$photo" ]; then
  example histogram "$photo" "$out/histogram.png"
  example equalize "$photo" "$out/equalize_before.png" "$out/equalize_after.png" "$out/equalize_chart.png"
  example clahe "$photo" 3 "$out/clahe_before.png" "$out/clahe_after.png"
  example auto_exposure "$photo" 5 "$out/exposure_before.png" "$out/exposure_after.png" \
    "$out/exposure_chart.png"
  example box_blur "$photo" 20 "$out/blur_before.png" "$out/blur_after.png"
  [ -f "$page" ] || echo "There is no photographed page $page, so adaptive_threshold takes the photograph."
  [ -f "$page" ] || page=$photo
  example adaptive_threshold "$page" 15 "$out/threshold_before.png" "$out/threshold_after.png"
  example methods "$photo"
else
  echo "There is no photograph $photo: name one, as in PHOTO=my.jpg sh examples/run.sh"
  summary="$summary
  FAILED: no photograph for histogram, equalize, clahe, auto_exposure, box_blur, adaptive_threshold: name one with PHOTO=file"
  wrong=$((wrong + 6))
  example methods
fi

example many_devices
if [ -x "$build/gl_particles" ]; then
  example gl_particles "$out/particles.png"
else
  echo "There is no OpenGL with EGL, so gl_particles is left out."
fi
if [ -x "$build/vulkan_scan" ]; then
  example vulkan_scan
else
  echo "There is no Vulkan, so vulkan_scan is left out."
fi
if command -v mpicc > /dev/null 2>&1; then
  # four ranks on however many cores, as whoever runs this
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
  launcher='mpirun --oversubscribe -n 4'
  example mpi_scan
else
  echo "There is no mpicc, so mpi_scan is left out."
fi

launcher=
for python in python3 /usr/bin/python3; do
  [ -z "$launcher" ] && "$python" -c 'import numpy' 2> /dev/null && launcher=$python
done
if [ -n "$launcher" ]; then
  cp scan.py "$build/scan.py"
  example scan.py
else
  echo "There is no python3 with numpy, so scan.py is left out."
fi

device=$(sed -n 's/^device: //p' "$build/methods.log" | head -n 1)
echo "Summary: ${device:-no device}$summary"
[ ! -f "$photo" ] || echo "  the pictures of $photo are in $out"
echo "$right examples right, $wrong wrong, $(($(date +%s) - begin)) s"
[ "$wrong" = 0 ]
