#!/bin/sh
# Compiles the programs of default calls for GPUs that are not here: sh tests/reach.sh [--all]
#
# AMD's back end of clang and Intel's offline compiler take them from tests/programs.c. A program fails that does not
# compile, spills registers, takes more private or local memory than below, or leaves room for fewer waves on gfx90a.
# Nothing runs. By default every eighth program is compiled, for one of two AMD GPUs; GPUSCAN_TEST_SEED decides which.
# --all compiles each for all of them.
#
# The compilers come from Debian's packages, unpacked in build/reach and not installed: no driver appears on this
# machine. LLVM's version is fixed, since another one unrolls and spills differently. build/reach/kernels.tsv has a line
# for each kernel. The last line is "N passed, N failed".

most_scratch=80      # bytes a work-item: an array of some words that a cold path indexes
most_scalar_spills=140 # to lanes of vector registers: masks of 64 lanes for each of 8 vectors take as many
most_local=65536     # bytes a work-group
most_ahead=256       # private bytes a work-item of gpuscan_ahead on dg2: Intel's compiler does not keep eight vectors
                     # of floats in registers
least_waves=4        # of a SIMD of gfx90a, but of these kernels, which take more than 16 KiB of local memory a group of
                     # 256, and some of sorts more than 128 registers; groups that sort together have a unit each
few_waves='gpuscan_histogram gpuscan_reduce_segments gpuscan_scan_sums gpuscan_parts
  gpuscan_columns_sums gpuscan_columns_carries gpuscan_columns_scan
  gpuscan_sort_histogram gpuscan_sort_sweep gpuscan_sort_small gpuscan_sort_together'

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/build/reach
step=8
seed=${GPUSCAN_TEST_SEED:-$(date +%s)}
[ "$1" = --all ] && step=1
passed=0
failed=0

left_out() {
  echo "left out: $*"
  echo '0 passed, 0 failed'
  exit 0
}

# ---- compilers ---------------------------------------------------------------------------------------------------------

packages='clang-19 libclang-cpp19 libllvm19 libclang-common-19-dev rocm-device-libs intel-opencl-icd libigc1 libigdfcl1
  libopencl-clang14 libllvmspirvlib14 libigdgmm12'
mkdir -p "$work/packages" "$work/root" && cd "$work" || exit 1
if [ ! -e complete ]; then
  [ "$(uname -m)" = x86_64 ] && command -v apt-get > /dev/null 2>&1 && command -v dpkg > /dev/null 2>&1 ||
    left_out 'AMD and Intel GPUs, whose compilers come from packages of Debian for x86-64'
  # shellcheck disable=SC2086 # words
  (cd packages && apt-get download -q $packages) > download.txt 2>&1 ||
    left_out "AMD and Intel GPUs, whose compilers could not be fetched (see $work/download.txt)"
  for package in packages/*.deb; do
    dpkg -x "$package" root || left_out 'AMD and Intel GPUs, whose compilers could not be unpacked'
  done
  rm -f packages/*.deb
  : > complete
fi
libraries=$work/root/usr/lib/x86_64-linux-gnu

# amd FILE GPU: a line for each kernel: name, vector registers, spills of vectors and scalars, private and local bytes.
amd() {
  wave=64
  isa=${2#gfx}
  case $2 in
    gfx942) isa=940 ;;
    gfx1100) isa=1030 wave=32 ;; # its own file is in later packages
    gfx1*) wave=32 ;;
  esac
  [ $wave = 64 ] && wave=on || wave=off
  set -- "$1" "$2" opencl ocml ockl oclc_correctly_rounded_sqrt_on oclc_daz_opt_off oclc_finite_only_off \
    oclc_unsafe_math_off oclc_abi_version_500 "oclc_wavefrontsize64_$wave" "oclc_isa_version_$isa"
  file=$1
  gpu=$2
  shift 2
  for library; do
    set -- "$@" -Xclang -mlink-builtin-bitcode -Xclang "$libraries/amdgcn/bitcode/$library.bc"
    shift
  done
  LD_LIBRARY_PATH=$libraries "$work/root/usr/lib/llvm-19/bin/clang" -x cl -target amdgcn-amd-amdhsa "-mcpu=$gpu" \
    -cl-std=CL2.0 -O3 -S -nogpulib -mcode-object-version=5 -mllvm -amdgpu-early-inline-all -Wall \
    -Wno-unused-function -Wno-unused-variable -Wno-tautological-compare "$@" -o code.s "$file" > said.txt 2>&1 || return 1
  awk '/^amdhsa.kernels:/ { metadata = 1 }
       !metadata { next }
       (/^  - / || /^amdhsa.target/) && name {
         print name, v["vgpr_count"], v["vgpr_spill_count"], v["sgpr_spill_count"], v["private_segment_fixed_size"],
           v["group_segment_fixed_size"]
         name = ""
       }
       /^    \.name:/ { name = $2 }
       /^(  - |    )\.[a-z_]*: +[0-9]+$/ { key = $(NF - 1); gsub(/[.:]/, "", key); v[key] = $NF }' code.s
}

# intel FILE GPU: the same; registers are those of a sub-group, and spills the bytes of its scratch, a power of two. The
# compiler spills to single_space or spill_fill_space, and keeps arrays in private_space. Like the library, compiles a
# program that spills again with the large register file.
intel() {
  options=$(sed -n '1s:^// ::p' "$1")
  intel_by "$1" "$2" "$options" > first.txt || return 1
  if awk '$3 > 0 { spills = 1 } END { exit !spills }' first.txt; then
    intel_by "$1" "$2" "$options -cl-intel-256-GRF-per-thread"
  else
    cat first.txt
  fi
}
intel_by() {
  IGC_EnableZEBinary=1 LD_LIBRARY_PATH=$libraries "$work/root/usr/bin/ocloc" compile -file "$1" -device "$2" \
    -out_dir . -output code -output_no_suffix -options "$3" > said.txt 2>&1 || return 1
  readelf --string-dump=.ze_info code 2>> said.txt | sed 's/\\n$//' | awk '
       /kernels_misc_info:/ { exit }
       /- name:/ { if (name) print name, grf, spill, 0, private, local; name = $NF; spill = private = local = 0 }
       / grf_count:/ { grf = $NF }
       / slm_size:/ { local = $NF }
       / usage: / { usage = $NF }
       / size: / && usage { if (usage == "private_space") private = $NF; else spill += $NF; usage = "" }
       END { if (name) print name, grf, spill, 0, private, local }'
}

# ---- programs ----------------------------------------------------------------------------------------------------------

rm -rf programs
mkdir programs
"${CC:-cc}" -std=c99 -w "$root/tests/programs.c" -o writer -ldl && ./writer --plans programs > written.txt || {
  echo 'FAILED: the programs are not written'
  echo '0 passed, 1 failed'
  exit 1
}
printf 'gpu\tprogram\tkernel\tregisters\tspills\tscalar_spills\tprivate\tlocal\twaves\n' > kernels.tsv

# waves GPU REGISTERS LOCAL GROUP: that a SIMD has room for. Registers come in granules. The four SIMDs of a compute
# unit of CDNA, or of two units of RDNA, share a group's waves, and 64 KiB of local memory, or 128. On dg2 a wave is a
# sub-group of 16 lanes, and 16 SIMDs share 128 KiB.
waves() {
  case $1 in
    gfx9*) set -- "$2" "$3" "$4" 512 8 8 64 65536 4 ;;
    gfx1030) set -- "$2" "$3" "$4" 1024 8 16 32 131072 4 ;;
    gfx1100) set -- "$2" "$3" "$4" 1536 24 16 32 131072 4 ;;
    dg2) set -- "$2" "$3" "$4" 1024 128 8 16 131072 16 ;;
  esac
  registers=$(($4 / (($1 + $5 - 1) / $5 * $5)))
  local=$(($8 / ($2 > 0 ? $2 : 1) * ($3 / $7) / $9))
  [ "$local" -lt "$registers" ] && registers=$local
  echo $((registers < $6 ? registers : $6))
}

# check COMPILER FILE GPU
check() {
  program=$(basename "$2" .cl)
  if ! "$1" "$2" "$3" > lines.txt || [ ! -s lines.txt ]; then
    echo "FAILED: $program for $3 does not compile"
    head -5 said.txt
    failed=$((failed + 1))
    return
  fi
  while read -r kernel registers spills scalars private local; do
    launched=$(grep "^$program $kernel " programs/local.txt | sort -k 4 -n | tail -n 1 | cut -d ' ' -f 3,4)
    local=$((local + ${launched#* }))
    waves=$(waves "$3" "$registers" "$local" "${launched% *}")
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$3" "$program" "$kernel" "$registers" "$spills" "$scalars" \
      "$private" "$local" "$waves" >> kernels.tsv
    least=0
    [ "$3" = gfx90a ] && least=$least_waves
    [ $least -gt 0 ] && [ "$kernel" = gpuscan_ahead ] && [ "$local" -gt 16384 ] && least=3 # selections' and runs' lists
    scratch=$most_scratch
    [ "$3" = dg2 ] && [ "$kernel" = gpuscan_ahead ] && scratch=$most_ahead
    for few in $few_waves; do
      [ "$kernel" = "$few" ] && least=0
    done
    if [ "$spills" -eq 0 ] && [ "$scalars" -le $most_scalar_spills ] && [ "$private" -le "$scratch" ] &&
      [ "$local" -le $most_local ] && [ "$waves" -ge $least ]; then
      passed=$((passed + 1))
    else
      echo "FAILED: $program for $3: $kernel: $spills spills, $scalars of scalars, private $private," \
        "local $local bytes, $waves waves"
      failed=$((failed + 1))
    fi
  done < lines.txt
}

# By default for the first or the second of these GPUs.
check_amd() {
  for gpu in $1; do
    [ $step = 1 ] || [ "$gpu" = "$(echo "$1" | cut -d ' ' -f $((seed / 8 % 2 + 1)))" ] || continue
    check amd "$file" "$gpu"
  done
}

turn=$((seed % step))
for file in programs/*.cl; do
  turn=$((turn + 1))
  [ $((turn % step)) = 0 ] || continue
  case $file in
    programs/amd64-*) check_amd 'gfx90a gfx942' ;;
    programs/amd32-*) check_amd 'gfx1030 gfx1100' ;;
    *) check intel "$file" dg2 ;;
  esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
