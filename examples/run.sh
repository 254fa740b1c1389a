#!/bin/sh
# Compiles examples into build/ and runs them on the best OpenCL device of this machine: sh examples/run.sh
#
#   sh examples/run.sh             the first program, the histogram and the equalisation of a photograph, and the
#                                  textbook's methods for prefix sums, sums and histograms of up to 100,000,000 elements
#   sh examples/run.sh --all       all examples
#   sh examples/run.sh NAME...     the examples of these names
#
# Each example compares its results with the CPU's and prints times and speed-ups. The pictures go to examples/out/.
# What is missing gets installed first where this is Debian and root runs it; --all needs more than the four examples.
# GPUSCAN_DEVICE=name picks another device, PHOTO=file another photograph, PAGE=file another page for
# adaptive_threshold, CSV=file another table, TEXT=file another text.

first='prefix_sum histogram equalize methods'
all="$first engine engine_as_cpp clahe auto_exposure box_blur adaptive_threshold cull splats csv_columns words"
all="$all drop_in many_devices gl_particles vulkan_scan mpi_scan scan.py"
begin=$(date +%s)
case $1 in
  '') names=$first ;;
  --all) names=$all ;;
  *) names=$* ;;
esac
group=first
for name in $names; do
  case " $all " in
    *" $name "*) ;;
    *) printf 'usage: sh examples/run.sh [--all | NAME...]\nThe names: %s\n' "$all" >&2; exit 2 ;;
  esac
  case " $first " in *" $name "*) ;; *) group=examples ;; esac
done

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

# One line for each step, with the seconds since the beginning.
step() {
  printf '[%3d s] %s\n' $(($(date +%s) - begin)) "$*"
}

mkdir -p "$build" "$out" "$POCL_CACHE_DIR" "$XDG_CACHE_HOME" || exit 1
cd "$root/examples" || exit 1

# Compiles a program with the command in its file's first comment; the one for engine_as_cpp is on the second line.
cat > "$build/compile.sh" <<'END_OF_SCRIPT'
file=$1 line=1
case $1 in scan.py) exit ;; engine_as_cpp) file=engine line=2 ;; esac
command=$(sed -n "$line"'s/^[ /*]*//; '"$line"'s/  *(.*//; '"$line"'p' "$file.c")
[ "$(uname)" != Darwin ] || command=$(echo "$command" | sed 's|-lOpenCL|-framework OpenCL|')
command=$(echo "$command" | sed "s|-o [a-z_]*|-o \"\$build/$1\"|; s|^cc |${CC:-cc} |; s|^c++ |${CXX:-c++} |")
rm -f "$build/$1"
eval "$command"
END_OF_SCRIPT
export build

# Compiles as many at a time as there are cores.
compile() {
  step "compiling $*"
  printf '%s\n' "$@" | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)" sh "$build/compile.sh"
}

# Installs what is missing.
setup() {
  sh "$root/tools/setup" "$1" || { echo "The examples cannot run without these." >&2; exit 1; }
}

step "looking for a compiler, OpenCL and a photograph; what is missing gets installed"
if [ $group = first ]; then # the driver, which is the largest, gets installed meanwhile
  setup compile
  # shellcheck disable=SC2086 # words
  compile $names &
fi
setup $group

# ---- what cannot run here is left out ----------------------------------------------------------------------------------

has_header() {
  echo "#include <$1>" | "${CC:-cc}" -fsyntax-only -x c - 2> /dev/null
}
python=
find_python() {
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2> /dev/null && return
  done
  return 1
}
left_out() {
  echo "left out: $1, $2"
}

runnable=''
for name in $names; do
  case $name in
    mpi_scan) command -v mpicc > /dev/null 2>&1 || { left_out "$name" 'there is no mpicc'; continue; } ;;
    gl_particles) has_header EGL/egl.h || { left_out "$name" 'there is no OpenGL with EGL'; continue; } ;;
    vulkan_scan) has_header vulkan/vulkan.h || { left_out "$name" 'there is no Vulkan'; continue; } ;;
    scan.py) find_python || { left_out "$name" 'there is no python3 with numpy'; continue; } ;;
  esac
  runnable="$runnable $name"
done

# shellcheck disable=SC2086 # words
if [ $group = first ]; then wait; else compile $runnable; fi

# ---- running -----------------------------------------------------------------------------------------------------------

summary='' device='' right=0 wrong=0

# Runs an example, by $launcher if that is set: its last line goes to the summary.
#   example NAME ARGUMENTS
launcher=
example() {
  name=$1
  shift
  step "running $name"
  if [ -f "$build/$name" ]; then
    # shellcheck disable=SC2086 # the launcher is several words
    { $launcher "$build/$name" "$@"; echo $? > "$build/$name.status"; } 2>&1 | tee "$build/$name.log"
    status=$(cat "$build/$name.status")
    last=$(tail -n 1 "$build/$name.log")
    [ -n "$device" ] || device=$(sed -n 's/^device: //p' "$build/$name.log" | head -n 1)
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

# Runs an example of a photograph, or counts it as wrong where there is none.
#   of_photo NAME ARGUMENTS
of_photo() {
  if [ -f "$2" ]; then
    example "$@"
  else
    echo "There is no photograph $2: name one, as in PHOTO=my.jpg sh examples/run.sh"
    summary="$summary
  FAILED: $1: no photograph; name one with PHOTO=file"
    wrong=$((wrong + 1))
  fi
}

rm -f "$build/engine.cache" # the first engine starts cold, the second one warm
for name in $runnable; do
  case $name in
    engine | engine_as_cpp) example "$name" "$build/engine.cache" ;;
    splats) example splats "$out/splats" ;;
    csv_columns) example csv_columns ${CSV:+"$CSV"} ;;
    words) example words ${TEXT:+"$TEXT"} ;;
    histogram) of_photo histogram "$photo" "$out/histogram.png" ;;
    equalize)
      of_photo equalize "$photo" "$out/equalize_before.png" "$out/equalize_after.png" "$out/equalize_chart.png" ;;
    clahe) of_photo clahe "$photo" 3 "$out/clahe_before.png" "$out/clahe_after.png" ;;
    auto_exposure)
      of_photo auto_exposure "$photo" 5 "$out/exposure_before.png" "$out/exposure_after.png" \
        "$out/exposure_chart.png" ;;
    box_blur) of_photo box_blur "$photo" 20 "$out/blur_before.png" "$out/blur_after.png" ;;
    adaptive_threshold)
      [ -f "$page" ] || echo "There is no photographed page $page, so adaptive_threshold takes the photograph."
      [ -f "$page" ] || page=$photo
      of_photo adaptive_threshold "$page" 15 "$out/threshold_before.png" "$out/threshold_after.png" ;;
    methods) if [ -f "$photo" ]; then example methods "$photo"; else example methods; fi ;;
    gl_particles) example gl_particles "$out/particles.png" ;;
    mpi_scan) # four ranks on however many cores, as whoever runs this
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
      launcher='mpirun --oversubscribe -n 4'
      example mpi_scan
      launcher= ;;
    scan.py)
      cp scan.py "$build/scan.py"
      launcher=$python
      example scan.py
      launcher= ;;
    *) example "$name" ;;
  esac
done

echo "Summary: $device$summary"
echo "  pictures are in $out"
step "$right examples right, $wrong wrong"
[ "$wrong" = 0 ]
