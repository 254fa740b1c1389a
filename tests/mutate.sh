#!/bin/sh
# Mutation testing of the kernels: sh tests/mutate.sh [COUNT [SEED] | --check]
#
# --check: only checks that each entry of ALIKE is in kernels.cl.inc. compile.sh calls this.
#
# Changes one token of kernels.cl.inc at random: an operator, a constant, min and max, or a statement that is left out.
# Then runs small tests on PoCL. If they see nothing, runs test_smoke and test_lanes in Oclgrind, which also sees races.
# Does this COUNT times (10); equal SEEDs give the same mutants. Prints for each mutant its line, the change, and what
# saw it; then the survivors, with their lines; the last line is "N seen, M survived". A missing test, or code that does
# nothing, shows as a survivor. The status only says whether all this could be done.
#
# Only text that some program of these tests compiles is changed: not code for other devices, not #if, not comments. A
# mutant that does not compile does not count, nor one that is known to change no result: see ALIKE. tests/mutate.c puts
# the changed line into the text that the tests give to the driver. So nothing of the host is compiled again, and only
# those programs that have the line.
#
# GPUSCAN_MUTATE_JOBS mutants run at a time, 2 by default. It runs on the driver that OCL_ICD_VENDORS names, and is meant
# for PoCL. All files are written to build/mutate/; build/mutate/logs/N is the tests' output for mutant N.

count=${1:-10}
seed=${2:-$(date +%s)}
jobs=${GPUSCAN_MUTATE_JOBS:-2}
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
work=$root/build/mutate
mkdir -p "$work/pocl" "$work/programs" "$work/logs" || exit 1
rm -rf "$work/logs" && mkdir "$work/logs" || exit 1
POCL_CACHE_DIR=$work/pocl
GPUSCAN_TEST_SEED=1 # the tests'; so that they build the same programs each time
CMOCKA_TEST_ABORT=1
export POCL_CACHE_DIR GPUSCAN_TEST_SEED CMOCKA_TEST_ABORT root work
cc=${CC:-cc}
if ! command -v clang > /dev/null; then
  echo 'left out: mutation testing, for want of clang, which says what a program compiles'
  exit 0
fi

# ---- ALIKE -------------------------------------------------------------------------------------------------------------

# Mutants that no result can show, on x86 and in Oclgrind: they are left out. FUNCTION OR MACRO: TEXT => WHAT IT BECOMES
# (* if all changes within it are meant) # WHY. Each is proved; what only seems so is a survivor. An entry whose text is
# not in that function of kernels.cl.inc ends the script before anything runs.
cat > "$work/alike.txt" << 'END_OF_LIST'
gpuscan_device_fence: mem_fence(CLK_GLOBAL_MEM_FENCE); => ; # stands between atomics, and those order all for x86
gpuscan_publish_sum: gpuscan_device_fence(); => ; # the same
gpuscan_sum_await: gpuscan_device_fence(); => ; # the same
gpuscan_may_poll: (*polls)++ < GPUSCAN_POLLS => (*polls)++ <= GPUSCAN_POLLS # a poll more before a late tile is summed
gpuscan_look_back_to: polls = 0 => polls = 1 # a poll fewer: the same sum
gpuscan_prefix_await: polls = 0 => polls = 1 # the same
gpuscan_sum_arrives: polls = 0 => polls = 1 # the same
gpuscan_ahead_scan: GPUSCAN_ITEM < GPUSCAN_FINDERS => GPUSCAN_ITEM <= GPUSCAN_FINDERS # work-item 1 finds the same
gpuscan_find_prefix: gpuscan_device_fence(); => ; # the same
gpuscan_window_sums: gpuscan_device_fence(); => ; # the same
gpuscan_reduce: gpuscan_device_fence(); => ; # the same
gpuscan_histogram: gpuscan_device_fence(); => ; # the same
gpuscan_policy_keep: 0 => 1 # read on NVIDIA alone
gpuscan_policy_last: 0 => 1 # the same
gpuscan_policy_normal: 0 => 1 # the same
GPUSCAN_PREFETCH: (size_t)(p) + (bytes)), write, 3 => * # a prefetch has no result, whatever it is of
GPUSCAN_LINE: 64 => * # between two prefetches
gpuscan_fold_window: polls = 0 => polls = 1 # the same
gpuscan_window_scan: d < GPUSCAN_WINDOW => d <= GPUSCAN_WINDOW # no lane is as high: a round that changes nothing
gpuscan_vote: SUBGROUP * GPUSCAN_LANES => SUBGROUP / GPUSCAN_LANES # 0 both: groups that vote are one sub-group
gpuscan_tile_sum_alone: ROLLED for (uint s = 0; s < => ROLLED for (uint s = 0; s <= # comes in behind the result
gpuscan_count_block: counter[0] == counter[GPUSCAN_BLOCK / 2 => counter[0] != counter[GPUSCAN_BLOCK / 2 # only where to look for runs
GPUSCAN_PIECE: 65536 / sizeof(gpuscan_sample) / GPUSCAN_BLOCK => * # what a group draws at a time
END_OF_LIST

# The kernels without comments and what stands in quotes, column by column.
awk '
  {
    line = $0; bare = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
      c = substr(line, i, 1); two = substr(line, i, 2)
      if (comment && two == "*/") { comment = 0; bare = bare "  "; i++ }
      else if (comment) bare = bare " "
      else if (!quoted && two == "/*") { comment = 1; bare = bare "  "; i++ }
      else if (quoted && c == "\\") { bare = bare "  "; i++ }
      else if (c == "\"") { quoted = !quoted; bare = bare c }
      else bare = bare (quoted ? " " : c)
    }
    print bare
  }' kernels.cl.inc > "$work/bare.txt"

awk -v alike="$work/alike.txt" '
  BEGIN {
    while ((getline line < alike) > 0) {
      sub(/ # .*/, "", line)
      owner[++alikes] = substr(line, 1, index(line, ": ") - 1)
      from[alikes] = substr(line, index(line, ": ") + 2)
      from[alikes] = substr(from[alikes], 1, index(from[alikes], " => ") - 1)
    }
  }
  NR == FNR { bare[NR] = $0; next }
  bare[FNR] ~ /^# *define / { unit = bare[FNR]; sub(/^# *define +/, "", unit); sub(/[^A-Za-z_0-9].*/, "", unit) }
  bare[FNR] ~ /^[A-Za-z]/ && match(bare[FNR], /gpuscan_[a-z_0-9]*\(/) { unit = substr(bare[FNR], RSTART, RLENGTH - 1) }
  { for (a = 1; a <= alikes; a++) if (unit == owner[a] && index($0, from[a])) found[a] = 1 }
  END {
    for (a = 1; a <= alikes; a++) {
      if (a in found) continue
      print "FAILED: ALIKE has what is not in kernels.cl.inc: " owner[a] ": " from[a]
      stale = 1
    }
    exit stale
  }' "$work/bare.txt" kernels.cl.inc >&2 || exit 1
[ "$1" != --check ] || exit 0

# ---- the tests ---------------------------------------------------------------------------------------------------------

# STEP PROGRAM SIZE SHARE TESTS, the quickest first. Small sizes make test_lanes run what PoCL 3.1 cannot.
cat > "$work/steps.txt" << 'END_OF_LIST'
smoke smoke default 6 *
controls plants default 6 *controls*
uniform_add uniform_add small 60 blocks
reduce-inits reduce small 60 inits_and_counts
reduce-indices reduce small 60 indices
histogram-lengths histogram small 12 every_length
histogram-ranges histogram small 12 ranges_of_integers
histogram-edges histogram small 12 explicit_edges
histogram-images histogram small 12 images
histogram-weights histogram small 12 weights_and_counters
histogram-more histogram small 12 more_bins_than_before
histogram-runs histogram small 12 crowded_bins
scan-rows scan small 60 rows_and_pitches
scan-place scan small 60 rows_in_place
scan-counts scan small 60 device_counts
scan-inits scan small 60 inits_and_totals
published trust small 1 *published*
stopped trust small 1 *stopped*
silent trust default 1 *silent*
lanes lanes default 2 *
simulated-smoke smoke simulator 6 *
simulated-lanes lanes simulator 6 *
END_OF_LIST
if ! command -v oclgrind > /dev/null; then
  echo 'left out: what only Oclgrind sees, which is not installed'
  grep -v '^simulated' "$work/steps.txt" > "$work/steps.new" && mv "$work/steps.new" "$work/steps.txt"
fi

# One step: sh step.sh STEP PROGRAM SIZE SHARE TESTS [SECONDS]. A test that hangs is stopped by the processor time that it
# takes, or where it only waits, by the clock.
cat > "$work/step.sh" << 'END_OF_SCRIPT'
GPUSCAN_MUTATE_FOLDER=$work/programs/$1
GPUSCAN_TEST_SHARE=$4 GPUSCAN_TEST_ONLY=$5 GPUSCAN_TEST_SIZE=$3
export GPUSCAN_MUTATE_FOLDER GPUSCAN_TEST_SHARE GPUSCAN_TEST_ONLY GPUSCAN_TEST_SIZE
ulimit -t "${6:-3600}"
if [ "$3" != simulator ]; then
  LD_PRELOAD=$work/mutate.so exec timeout -k 5 900 "$work/$2"
fi
reports=$GPUSCAN_MUTATE_FOLDER/reports-$$.txt
GPUSCAN_TEST_SIZE=small
# shellcheck disable=SC2016 # Oclgrind sets LD_PRELOAD, too
timeout -k 5 1800 oclgrind --data-races --check-api --max-errors 20 --log "$reports" \
  sh -c 'LD_PRELOAD="$work/mutate.so $LD_PRELOAD" exec "$0"' "$work/$2"
status=$?
[ -s "$reports" ] && { cat "$reports"; status=1; }
rm -f "$reports"
exit "$status"
END_OF_SCRIPT

echo 'compiling the tests'
"$cc" -std=c99 -O1 -shared -fPIC tests/mutate.c -o "$work/mutate.so" -ldl || exit 1
# shellcheck disable=SC2013 # words
for program in $(cut -d ' ' -f 2 "$work/steps.txt" | sort -u); do
  "$cc" -std=c99 -O1 "tests/test_$program.c" -o "$work/$program" -lcmocka -lOpenCL -lm -lpthread -ldl || exit 1
done

# Without a mutant: all must be right, and what the programs begin with is kept. A mutant is given twice the time, and a
# minute for what the driver has compiled before.
set -f # no file's name is meant by *
while read -r step rest; do
  mkdir -p "$work/programs/$step"
  find "$work/programs/$step" -type f -exec rm -f {} +
  began=$(date +%s)
  # shellcheck disable=SC2086
  if ! sh "$work/step.sh" "$step" $rest > "$work/logs/$step.txt" 2>&1 < /dev/null; then
    echo "FAILED: $step, without a mutant: see $work/logs/$step.txt" >&2
    exit 1
  fi
  echo "$step $rest $((60 + 2 * ($(date +%s) - began)))"
done < "$work/steps.txt" > "$work/timed.txt"

# ---- what runs here ----------------------------------------------------------------------------------------------------

# marked TEXT: a program for the preprocessor: before the kernels as it is, then L1, L2, ... for each line that is code
# or defines something, between the directives.
marked() {
  awk '
    /^#line [0-9]+( "kernels.cl.inc")?$/ { kernels = 1; number = $2 - 1; next }
    !kernels { print; next }
    {
      number++
      directive = continued ? directive : /^#/
      if (!directive || (!continued && /^# *define/)) print "L" number
      if (directive && (continued || !/^# *(pragma|error)/)) print
      continued = directive && /\\$/
    }' "$1"
}

# The numbers of the lines that a program compiles, but not those of functions and macros that nothing of it uses.
for text in $(set +f && ls "$work"/programs/*/*.text); do
  marked "$text" | clang -E -P -x cl -cl-std=CL1.2 - 2> "$work/clang.txt" |
    sed -n 's/^L\([0-9][0-9]*\)$/\1/p' > "${text%.text}.compiled" || exit 1
  echo "${text%.text}"
done > "$work/programs.txt"
awk -v programs="$work/programs.txt" '
  function names_of(text,   list) {
    list = ""
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
      list = list " " substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
    }
    return list
  }
  function use(line,   n, k, parts, name) {
    n = split(names[line], parts, " ")
    for (k = 1; k <= n; k++)
      if (!((name = parts[k]) in used)) {
        used[name] = 1
        if (name in units) queue[++queued] = name
      }
  }
  { # each line belongs to a function or a macro, which begins at start[line], or is always there: 0
    if (begin == 0 && $0 ~ /^# *define/) {
      name = $0
      sub(/^# *define +/, "", name); sub(/[^A-Za-z_0-9].*/, "", name)
      begin = NR; is_macro[NR] = 1
      units[name] = units[name] " " NR
    } else if (begin == 0 && $0 ~ /^(static inline|GPUSCAN_INLINE) / && match($0, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
      name = substr($0, RSTART, RLENGTH - 1)
      begin = NR
      units[name] = units[name] " " NR
    }
    start[NR] = begin
    names[NR] = names_of($0)
    if (begin in is_macro ? $0 !~ /\\$/ : $0 ~ /^}/) begin = 0
  }
  END {
    while ((getline program < programs) > 0) {
      split("", used); split("", compiled); split("", live)
      queued = 0
      while ((getline line < (program ".compiled")) > 0) {
        compiled[line + 0] = 1
        if (start[line + 0] == 0) { live[line + 0] = 1; use(line + 0) }
      }
      close(program ".compiled")
      for (q = 1; q <= queued; q++) {
        n = split(units[queue[q]], first, " ")
        for (k = 1; k <= n; k++) {
          if (!(first[k] in compiled)) continue
          for (l = first[k] + 0; start[l] == first[k] + 0; l++)
            if ((first[k] in is_macro) || (l in compiled)) { live[l] = 1; use(l) }
        }
      }
      for (l = 1; l <= NR; l++)
        if (l in live) { print l > (program ".live"); all[l] = 1 }
      close(program ".live")
    }
    for (l = 1; l <= NR; l++) if (l in all) print l
  }' "$work/bare.txt" > "$work/live.txt"
while read -r step rest; do
  find "$work/programs/$step" -name '*.live' -exec cat {} + | sort -u > "$work/programs/$step.txt"
done < "$work/steps.txt"
lines=$(awk 'NR == FNR { live[$1] = 1; next } /[^ ]/ { all++; if (FNR in live) n++ }
  END { printf "%d of %d", n, all }' "$work/live.txt" "$work/bare.txt")
echo "$lines lines of code are compiled, in $(wc -l < "$work/programs.txt") programs"

# ---- mutants -----------------------------------------------------------------------------------------------------------

# All mutants there are, in a random order: line, before, after, what the line becomes; between tabs. Mistakes that tests
# plant, and what is there for tests, are no code.
awk -v live="$work/live.txt" -v alike="$work/alike.txt" -v seed="$seed" -v source=kernels.cl.inc '
  function mutant(at, size, after,   line, a) {
    if (at < body) return
    line = substr(text[NR], 1, at - 1) after substr(text[NR], at + size)
    made[++mutants] = NR "\t" substr(text[NR], at, size) "\t" after "\t" line
    for (a = 1; a <= alikes; a++)
      if (unit == owner[a] && is_alike(from[a], to[a], at, size, line)) same[mutants] = 1
  }
  # whether the line becomes this, size characters of it at from_at having changed, where one of its olds becomes new
  function is_alike(old, new, from_at, size, line,   was, at, more) {
    was = text[NR]
    for (at = index(was, old); at; at = more ? at + more : 0) {
      if (new == "*" && from_at >= at && from_at + size <= at + length(old)) return 1
      if (line == substr(was, 1, at - 1) new substr(was, at + length(old))) return 1
      more = index(substr(was, at + 1), old)
    }
    return 0
  }
  function spaced(at, size) { return substr($0, at - 1, 1) == " " && substr($0, at + size, 1) == " " }
  BEGIN {
    while ((getline line < live) > 0) is_live[line + 0] = 1
    while ((getline line < source) > 0) text[++lines] = line
    while ((getline line < alike) > 0) {
      sub(/ # .*/, "", line)
      owner[++alikes] = substr(line, 1, index(line, ": ") - 1)
      line = substr(line, index(line, ": ") + 2)
      from[alikes] = substr(line, 1, index(line, " => ") - 1)
      to[alikes] = substr(line, index(line, " => ") + 4)
    }
    split("<= < >= > == != && || << >> += -=", pairs, " ")
    for (k = 1; k in pairs; k += 2) { other[pairs[k]] = pairs[k + 1]; other[pairs[k + 1]] = pairs[k] }
    other["<"] = "<="; other[">"] = ">="
    split("+ - & | / * % /", spaced_pairs, " ")
    for (k = 1; k in spaced_pairs; k += 2) other_spaced[spaced_pairs[k]] = spaced_pairs[k + 1]
    other_spaced["-"] = "+"; other_spaced["|"] = "&"; other_spaced["*"] = "/"
    swapped["min"] = "max"; swapped["max"] = "min"; swapped["fmin"] = "fmax"
    swapped["true"] = "false"; swapped["false"] = "true"
  }
  /^# *define / { unit = $0; sub(/^# *define +/, "", unit); sub(/[^A-Za-z_0-9].*/, "", unit) }
  /^[A-Za-z]/ && match($0, /gpuscan_[a-z_0-9]*\(/) { unit = substr($0, RSTART, RLENGTH - 1) }
  /GPUSCAN_PLANTED|GPUSCAN_TEST_/ {
    left_out = $0 ~ /^ *if \((!?GPUSCAN_PLANTED|GPUSCAN_TEST_SILENT\(tile\)\))/ && $0 !~ /;$/
    next
  }
  left_out { left_out = $0 !~ /;$/; next }
  !(NR in is_live) { next }
  {
    body = 1
    if (match($0, /^# *define +[A-Za-z_0-9]*(\([^)]*\))?/)) body = RLENGTH + 1
    opened = gsub(/\(/, "("); closed = gsub(/\)/, ")")
    if (opened == closed && ($0 ~ /^ *\*?[A-Za-z_][A-Za-z_0-9.>\[\]-]*( [-+*\/|&]?= |\(|\+\+;|--;).*;$/ ||
        $0 ~ /^ *(return|continue|break);$/) && $0 !~ /^ *(for|while|if|typedef|struct) *\(/) {
      match($0, /[^ ]/)
      at = RSTART
      match($0, /;$/)
      mutant(at, RSTART - at + 1, ";")
    }
    for (i = 1; i <= length($0); i += size) {
      c = substr($0, i, 1); two = substr($0, i, 2); size = 1
      if (match(substr($0, i), /^[A-Za-z_][A-Za-z_0-9]*/)) {
        size = RLENGTH; word = substr($0, i, size)
        if (word in swapped) mutant(i, size, swapped[word])
      } else if (match(substr($0, i), /^0x[0-9a-f]+[ul]*/)) {
        size = RLENGTH
      } else if (match(substr($0, i), /^[0-9]+/)) {
        size = RLENGTH; number = substr($0, i, size)
        if (substr($0, i + size, 1) != ".") {
          mutant(i, size, number + 1)
          if (number > 0) mutant(i, size, number - 1)
        }
        if (match(substr($0, i + size), /^[.0-9ulf]+/)) size += RLENGTH
      } else if (two in other) { size = 2; mutant(i, size, other[two]) }
      else if (two == "->" || two == "++" || two == "--") size = 2
      else if (c in other) mutant(i, 1, other[c])
      else if (c == "!") mutant(i, 1, "")
      else if (c in other_spaced && spaced(i, 1)) mutant(i, 1, other_spaced[c])
    }
  }
  END {
    state = seed % 2147483646 + 1
    for (k = mutants; k > 0; k--) {
      state = state * 16807 % 2147483647
      at = int(state / 2147483647 * k) + 1
      if (!(at in same)) print made[at]
      made[at] = made[k]
      if (k in same) same[at] = 1
      else delete same[at]
    }
  }' "$work/bare.txt" > "$work/mutants.txt" || exit 1
available=$(wc -l < "$work/mutants.txt")
echo "$available mutants, of which $count at random, seed $seed"

# Mutant N: its line in results.txt is N, a tab, "seen", "survived" or "unbuilt", a tab, and what saw it.
cat > "$work/one.sh" << 'END_OF_SCRIPT'
tab=$(printf '\t')
record=$(sed -n "$1p" "$work/mutants.txt")
GPUSCAN_MUTATE_LINE=${record%%"$tab"*}
before=${record#*"$tab"}
after=${before#*"$tab"}
GPUSCAN_MUTATE_TEXT=${after#*"$tab"}
before=${before%%"$tab"*}
after=${after%%"$tab"*}
GPUSCAN_MUTATE_UNBUILT=$work/logs/$1-unbuilt.txt
export GPUSCAN_MUTATE_LINE GPUSCAN_MUTATE_TEXT GPUSCAN_MUTATE_UNBUILT
outcome=survived
by=
set -f
while read -r step rest; do
  grep -qx "$GPUSCAN_MUTATE_LINE" "$work/programs/$step.txt" || continue # none of its programs holds the line
  # shellcheck disable=SC2086
  sh "$work/step.sh" "$step" $rest > "$work/logs/$1-$step.txt" 2>&1 < /dev/null
  status=$?
  [ "$status" -eq 0 ] && continue
  outcome=seen
  by=$step
  case $status in 124 | 137 | 152) by="$step, which hangs" ;; esac
  break
done < "$work/timed.txt"
if [ "$outcome" = seen ] && [ -e "$GPUSCAN_MUTATE_UNBUILT" ]; then
  outcome=unbuilt
else
  echo "line $GPUSCAN_MUTATE_LINE: $before -> ${after:-nothing}: $outcome${by:+ by $by}"
fi
printf '%s\t%s\t%s\n' "$1" "$outcome" "$by" >> "$work/results.txt"
END_OF_SCRIPT

: > "$work/results.txt"
next=1
while
  done=$(grep -c -v unbuilt "$work/results.txt")
  [ "$done" -lt "$count" ] && [ "$next" -le "$available" ]
do
  last=$((next + count - done - 1))
  [ "$last" -gt "$available" ] && last=$available
  seq "$next" "$last" | xargs -n 1 -P "$jobs" sh "$work/one.sh"
  next=$((last + 1))
done

echo 'survivors:'
sort -n "$work/results.txt" | while IFS=$(printf '\t') read -r number outcome _; do
  [ "$outcome" = survived ] || continue
  sed -n "${number}p" "$work/mutants.txt" | awk -F '\t' -v source=kernels.cl.inc '{
    while ((getline line < source) > 0) if (++n == $1) break
    printf "  line %d: %s -> %s\n    %s\n", $1, $2, $3 == "" ? "nothing" : $3, line }'
done
awk -F '\t' '{ n[$2]++ } END { printf "%d seen, %d survived\n", n["seen"], n["survived"] }' "$work/results.txt"
