#!/bin/sh
# Tests of tools/embed: what it writes, what it refuses, and that gpuscan.h is up to date. Run: sh tests/test_embed.sh
# Last line: "N passed, N failed". CC names the compiler (default: cc).
set -u
LC_ALL=C
export LC_ALL

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
embed=$root/tools/embed
mkdir -p "$root/build" && work=$(mktemp -d "$root/build/embed.XXXXXX") || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
passed=0
failed=0

# check NAME COMMAND...: the command must succeed.
check() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED embed: $name"
  fi
}

not() {
  ! "$@"
}

# A header with markers around one stale line, and trailing lines that must survive.
new_header() {
  printf '%s\n' '#include <stdio.h>' 'static const char *const kernels[] = {' '    /* kernels.cl.inc: begin */' \
    '    "stale\n",' '    /* kernels.cl.inc: end */' '};' '' 'int main(void) {' '    size_t i;' \
    '    for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) fputs(kernels[i], stdout);' '    return 0;' '}' \
    > h.h
}

# refused KERNELS MESSAGE: the embedding fails with exit status 1, says MESSAGE, and leaves the header alone.
refused() {
  cp h.h before.h
  "$embed" "$1" h.h > out.txt 2> err.txt
  [ $? -eq 1 ] && [ ! -s out.txt ] && grep -qF -e "$2" err.txt && cmp -s h.h before.h
}

# embeds KERNELS EXPECTED [FLAG...]: a C program that prints the array gives what is expected, byte for byte.
embeds() {
  kernels=$1
  expected=$2
  shift 2
  new_header
  "$embed" "$kernels" h.h && cp h.h program.c && "${CC:-cc}" "$@" -o program program.c && ./program > back.txt &&
    diff back.txt "$expected"
}

# line C N: a line of N characters C.
line() {
  printf "%$2s\\n" '' | tr ' ' "$1"
}

# --- what it writes
cat > k.inc <<'END'
/*  a comment with "quotes", a \ backslash and 100 %  */
#define CONCAT(a, b) a##b \
    + 1

! # $ % & ( ) * + , - . / 0 : ; < = > ? @ A [ ] ^ _ ` a { | } ~ "\0 \n \x7f" '\'' '"'
END
i=32
while [ $i -le 126 ]; do # every printable character in a string, alone and doubled
  c=$(printf '\\%o' $i)
  case $i in
    34 | 92) printf "\"\\\\${c}x\\\\${c}\\\\${c}\"\n" ;; # a quote, a backslash
    63) printf "\"${c}x\"\n" ;; # two question marks may begin a trigraph
    *) printf "\"${c}x${c}${c}\"\n" ;;
  esac >> k.inc
  i=$((i + 1))
done
printf '%120s\n' '' | tr ' ' '"' >> k.inc
printf '"%118s"\n' '' | tr ' ' '\\' >> k.inc
sed 's/^    / /' k.inc > k.out
check "code and strings" embeds k.inc k.out
check "the same in pedantic C" embeds k.inc k.out -std=c99 -pedantic -Werror
check "a line of the header for each line that is not empty" test "$(grep -c . k.inc)" -eq "$(($(wc -l < h.h) - 11))"
check "the lines around the markers stay" grep -qx 'static const char \*const kernels\[\] = {' h.h
check "stale text is gone" not grep -q stale h.h
printf 'one\n\n\ntwo' > k2.inc
printf 'one\n\n\ntwo\n' > k3.inc
new_header
"$embed" k2.inc h.h
cp h.h from_k2.h
check "a last line without newline" "$embed" --check k3.inc from_k2.h
printf 'x\n' > k4.inc
new_header
"$embed" k4.inc h.h
printf '"x\\n",\n' > literal.txt
sed -n 4p h.h > line4.txt
check "the form of a line" cmp -s literal.txt line4.txt
printf '\n\n\n' >> h.h
cp h.h before.h
"$embed" k4.inc h.h
check "empty lines at the end stay" cmp -s h.h before.h
new_header
sed '/stale/d' h.h > empty.h
"$embed" k4.inc empty.h
check "markers without a line between" grep -qxF '"x\n",' empty.h
sed 's/ *\/\*/\/*/' empty.h > left.h
check "markers in the first column" "$embed" --check k4.inc left.h

# --- comments and blanks

cat > comments.inc <<'END'
first /*  stays  */
a /* gone */ b // gone "
#define M(x) /* gone */   \
    x /* gone */ \
    /* gone */  \
    + 1   /* gone */
s = "/* stays  */ // \" /* stays"; // gone
c = '"';  /* gone */ d = '\''; /* " */
/* gone
   "gone'
   // gone
 */
    x   =  1;
e/**/f /* a *//* b */ g /*/ gone */
_Pragma("unroll // 4") x / /* gone */ y
#pragma once /* gone */
END
cat > comments.out <<'END'
first /*  stays  */
a b
#define M(x) \
 x \
 \
 + 1
s = "/* stays  */ // \" /* stays";
c = '"'; d = '\'';




x = 1;
e f g
_Pragma("unroll // 4") x / y
#pragma once
END
printf '  z  \n' >> comments.inc # not above: editors trim lines
echo z >> comments.out
check "comments and blanks go, their lines and strings stay" embeds comments.inc comments.out
{ echo x; printf '\n/*\n*/\n'; echo y; } > empty.inc
new_header
"$embed" empty.inc h.h
check "empty lines stand behind the line before" grep -qxF '"x\n\n\n\n"' h.h
{ echo x; line '\n' 9000; echo y; } > empty.inc
check "many empty lines" embeds empty.inc empty.inc -std=c99 -pedantic -Woverlength-strings -Werror
check "they are no long line of the header" test "$(awk 'length > 120' h.h | wc -l)" -eq 0

# mistaken FILE: the numbers of the lines in which a compiler finds a mistake.
mistaken() {
  LC_ALL=C "${CC:-cc}" -fsyntax-only -x c "$1" 2>&1 | sed -n 's/^[^ :]*:\([0-9]*\):.*\(error\|note\):.*/\1/p'
}
cat > wrong.inc <<'END'
/* a licence */
/* some
   lines */
#define WRONG(x) /* a macro */ \
    /* of some lines */        \
    x + none_such
int f(void) {

    /* no declaration */ return nor_this;
}
/* and
   more */
int g(void) { return WRONG(1); }
#error /* at last */ "this"
END
mistaken wrong.inc > lines.txt
new_header
"$embed" wrong.inc h.h && cp h.h program.c && "${CC:-cc}" -o program program.c && ./program > copy.c
check "a compiler finds mistakes" test "$(sort -nu lines.txt | tr '\n' ' ')" = '6 9 13 14 '
check "and in the copy in the same lines" test "$(mistaken copy.c)" = "$(cat lines.txt)"

# --- the length of literals: at most 4,094 characters as the compiler sees them, one less than C99 promises

cat > lengths.c <<'END'
#include <string.h>
#define main print_kernels
#include "h.h"
#undef main
int main(void) { /* each literal's length and first line */
    size_t i;
    for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        printf("%lu %.*s\n", (unsigned long)strlen(kernels[i]), (int)strcspn(kernels[i], "\n"), kernels[i]);
    return 0;
}
END

# lines C N LAST LENGTH: N lines of 119 characters C, so 120 with their newlines, and a last one of LENGTH characters.
lines() {
  n=$2
  while [ "$n" -gt 0 ]; do
    line "$1" 119
    n=$((n - 1))
  done
  line "$3" "$4"
}

# literals KERNELS FIRST: what is embedded is the same text, in literals of 1 to 4,094 characters, and FIRST are their
# first lines, each with a space behind it.
literals() {
  embeds "$1" "$1" -std=c99 -pedantic -Woverlength-strings -Werror &&
    "${CC:-cc}" -std=c99 -o lengths lengths.c && ./lengths > lengths.txt &&
    awk '$1 < 1 || $1 > 4094 { exit 1 }' lengths.txt && [ "$(sed 's/^[0-9]* //' lengths.txt | tr '\n' ' ')" = "$2" ]
}

a119=$(line a 119)
lines a 34 b 13 > k.len # 34 * 120 + 14 = 4094
check "4,094 characters are one literal" literals k.len "$a119 "
lines a 34 b 14 > k.len
check "4,095 characters are two" literals k.len "$a119 $(line b 14) "
for to in 's/aa/""/g' 's/a\{6\}/"\\\\\\\\"/g'; do # escapes make a line longer in the header, but not in the literal
  lines a 34 b 13 | sed "$to" > k.len
  check "4,094 characters with escapes, by $to, are one literal" literals k.len "$(echo "$a119" | sed "$to") "
  lines a 34 b 14 | sed "$to" > k.len
  check "4,095 characters with escapes, by $to, are two" literals k.len "$(echo "$a119" | sed "$to") $(line b 14) "
done
{ lines a 16 b 119; echo; echo next; } > k.len # 17 * 120 + 1 = 2041: less than half
check "an empty line in the first half ends no literal" literals k.len "$a119 "
{ lines a 17 b 6; echo; echo next; } > k.len # 17 * 120 + 7 + 1 = 2048
check "an empty line in the second half ends the literal" literals k.len "$a119 next "
{ lines a 17 b 6; echo; } > k.len
check "unless it is the last line" literals k.len "$a119 "
{ lines a 40 b 1; lines c 40 d 1; lines e 40 f 1; } > k.len
check "long texts" literals k.len "$a119 $a119 $(line c 119) $(line e 119) "
{ lines a 17 b 6; echo; lines a 17 c 6; echo; lines a 17 d 6; } > k.len
new_header
"$embed" k.len h.h
cp h.h before.h
sed '3i\
one line more' k.len > k2.len
"$embed" k2.len h.h
diff before.h h.h | grep '^[<>]' > moved.txt
check "a line more moves no literal's end far from it" test "$(cat moved.txt)" = '> "one line more\n"'
line a 4094 > k.len
check "a line that fits no literal" refused k.len 'k.len:1: does not fit a literal of 4094 characters'

# --- when it writes
new_header
check "--check finds a stale header" not "$embed" --check k.inc h.h 2> err.txt
check "--check names the remedy" grep -q 'stale: run tools/embed' err.txt
check "--check writes nothing" grep -q stale h.h
chmod 664 h.h
"$embed" k.inc h.h
check "--check passes a fresh header" "$embed" --check k.inc h.h
check "the mode stays" test "$(ls -l h.h | cut -c1-10)" = -rw-rw-r--
touch -t 200001010000 h.h
"$embed" k.inc h.h
check "a fresh header is not written" test -n "$(find h.h -mtime +1000)"
printf 'y\n' > k5.inc
"$embed" k5.inc h.h
check "a stale header is written" test -z "$(find h.h -mtime +1000)"
check "no other file is left" test "$(ls -A | grep -c partial)" -eq 0
sed 's/"y/"z/' h.h > edited.h
check "--check finds an edit of the generated lines" not "$embed" --check k5.inc edited.h 2> err.txt
printf 'y\ny\n' > k6.inc
check "--check finds a line more" not "$embed" --check k6.inc h.h 2> err.txt

# --- what it refuses
new_header
printf 'fine\nfine\n\tbad\n' > bad.inc
check "a tab" refused bad.inc 'bad.inc:3: a tab'
printf 'fine\nbad\r\n' > bad.inc
check "a carriage return" refused bad.inc 'bad.inc:2: a carriage return'
printf 'b\303\244d\n' > bad.inc
check "UTF-8" refused bad.inc 'bad.inc:1: a character that is not printable ASCII'
printf 'fine\nb\377d\n' > bad.inc
check "Latin-1" refused bad.inc 'bad.inc:2: a character that is not printable ASCII'
printf 'fine\nb\000d\nfine\n' > bad.inc
check "NUL" refused bad.inc 'bad.inc:2: a character that is not printable ASCII'
printf 'fine\nb\177d\n' > bad.inc
check "DEL" refused bad.inc 'bad.inc:2: a character that is not printable ASCII'
printf 'fine\nb\033d\n' > bad.inc
check "escape" refused bad.inc 'bad.inc:2: a character that is not printable ASCII'
printf 'fine\nb\014d\n' > bad.inc
check "form feed" refused bad.inc 'bad.inc:2: a character that is not printable ASCII'
printf 'fine\n%121s\n' x > bad.inc
check "121 columns" refused bad.inc 'bad.inc:2: longer than 120 columns (121)'
printf '\tbad\nfine\n%130s\n' x > bad.inc
check "two errors, the first" refused bad.inc 'bad.inc:1: a tab'
check "two errors, the second" refused bad.inc 'bad.inc:3: longer than 120 columns (130)'
printf 'fine\n/* bad\nfine\n' > bad.inc
check "a comment without an end" refused bad.inc 'bad.inc:2: a comment that does not end'
printf 'fine\n/* bad\n/* fine */\n' > bad.inc
check "a comment in it" refused bad.inc 'bad.inc:3: a comment in a comment'
printf 'fine /* bad\n*/\n' > bad.inc
check "a first line that is no whole comment" refused bad.inc 'bad.inc:1: a comment that does not end in the first line'
printf 'fine\nbad /* fine\n*/\n' > bad.inc
check "code before a comment of several lines" refused bad.inc 'bad.inc:2: code beside a comment of several lines'
printf 'fine\n/* fine\n*/ bad\n' > bad.inc
check "code behind it" refused bad.inc 'bad.inc:3: code beside a comment of several lines'
printf '#define M \\\n  /* bad \\\n  */ 1\n' > bad.inc
check "a macro's comment of several lines" refused bad.inc 'bad.inc:2: code beside a comment of several lines'
printf 'fine\n// bad \\\nbad\n' > bad.inc
check "a comment to the line's end that goes on" refused bad.inc 'bad.inc:2: a backslash at the end of a comment'
printf 'fine\n"bad\n' > bad.inc
check "a string without an end" refused bad.inc 'bad.inc:2: a string or character that does not end'
printf 'fine\n"bad \\\nbad"\n' > bad.inc
check "a string of several lines" refused bad.inc 'bad.inc:2: a string or character that does not end'
printf 'fine\n#error not it'\''s\n' > bad.inc
check "a single quote" refused bad.inc 'bad.inc:2: a string or character that does not end'
for bad in 'b\\\nad' '\\ ' 'b\\ad' '"fine" \\n "fine"'; do
  printf "fine\\n$bad\\n" > bad.inc
  check "a backslash, $bad" refused bad.inc 'bad.inc:2: a backslash neither in a string nor behind a blank at the end'
done
printf 'fine\n"bad??/"\n' > bad.inc
check "a trigraph" refused bad.inc 'bad.inc:2: a trigraph'
printf 'fine\n/*\n SECTIONS  of it\n  [A] [B]\n\n  [C] */\n/* [A] - */\n/* [B] - */\n/* [A], more - */\n' > index.inc
new_header
check "a list of sections" "$embed" index.inc h.h
for change in 's/ \[B\]$//' 's/\[A\] \[B\]/[B] [A]/' 's/ \[B\]$/ [B] [C]/' 's/SECTIONS/none/'; do
  sed "$change" index.inc > bad.inc
  check "a list of sections that is wrong, $change" refused bad.inc 'SECTIONS must be [A] [B]'
done
: > bad.inc
check "an empty file" refused bad.inc 'bad.inc: is empty'
check "a missing file" refused missing.inc 'cannot read missing.inc'
check "a folder" refused . 'cannot read .'
sed '/: begin/d' h.h > t.h && mv t.h h.h
check "no begin marker" refused k.inc 'h.h: lacks the line /* kernels.cl.inc: begin */'
new_header
sed '/: end/d' h.h > t.h && mv t.h h.h
check "no end marker" refused k.inc 'h.h: lacks the line /* kernels.cl.inc: end */'
new_header
sed 's/: begin/: x/; s/: end/: begin/; s/: x/: end/' h.h > t.h && mv t.h h.h
check "markers the wrong way round" refused k.inc 'the end marker comes first'
new_header
sed '/: begin/p' h.h > t.h && mv t.h h.h
check "two begin markers" refused k.inc 'h.h:4: a second line /* kernels.cl.inc: begin */'
new_header
sed '/: end/p' h.h > t.h && mv t.h h.h
check "two end markers" refused k.inc 'h.h:6: a second line /* kernels.cl.inc: end */'
check "a missing header" not "$embed" k.inc missing.h 2> err.txt
new_header
check "--check refuses, too" not "$embed" --check bad.inc h.h 2> err.txt
"$embed" --help > out.txt 2> err.txt
check "an unknown option is a usage error" test $? -eq 2
"$embed" k.inc > out.txt 2> err.txt
check "one file is a usage error" test $? -eq 2

# --- where it runs: a copy of the folder whose name is awkward, called from elsewhere
mkdir -p "a b=c/tools" elsewhere
cp "$embed" "a b=c/tools/embed"
cat k.inc comments.inc > all.inc && cp all.inc "a b=c/kernels.cl.inc"
new_header
cp h.h "a b=c/gpuscan.h"
check "from another folder" sh -c 'cd elsewhere && "../a b=c/tools/embed"'
check "without arguments it takes its own folder's files" "$embed" --check all.inc "a b=c/gpuscan.h"
check "from its own folder" sh -c 'cd "a b=c/tools" && ./embed --check'
check "with CDPATH set" env CDPATH=/tmp sh -c 'cd "a b=c" && tools/embed --check'

# --- every awk on this machine writes the same
for awk in mawk gawk original-awk 'busybox awk'; do
  command -v "${awk%% *}" > /dev/null || continue
  mkdir -p bin
  printf '#!/bin/sh\nexec %s "$@"\n' "$awk" > bin/awk
  chmod +x bin/awk
  check "$awk gives the same" env PATH="$work/bin:$PATH" "$embed" --check all.inc "a b=c/gpuscan.h"
  printf 'fine\nb\000d\n' > bad.inc
  check "$awk refuses NUL" not env PATH="$work/bin:$PATH" "$embed" --check bad.inc h.h 2> err.txt
done

# --- the real files
check "gpuscan.h is up to date" "$embed" --check

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
