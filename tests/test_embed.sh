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

# A header with markers around one stale line, and trailing lines that must survive: a program that prints all pieces.
new_header() {
  printf '%s\n' '#include <stdio.h>' 'typedef int first;' '    /* kernels.cl.inc: begin */' \
    '    "stale\n",' '    /* kernels.cl.inc: end */' '' 'int main(void) {' '    const char *const *text;' \
    '    size_t i;' '    for (i = 0; i < GPUSCAN__PIECES; i++)' \
    '        for (text = gpuscan__pieces[i]; text && *text; text++)' \
    '            for (const char *at = *text; *at; at++) {' '                if (*at == 36) printf("GPUSCAN_");' \
    '                else if (*at == 96) printf("gpuscan_");' '                else putchar(*at);' '            }' \
    '    return 0;' '}' > h.h
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

! # % & ( ) * + , - . / 0 : ; < = > ? A [ ] ^ _ a { | } ~ "\0 \n \x7f" '\'' '"'
END
i=32
while [ $i -le 126 ]; do # every printable character in a string, alone and doubled
  c=$(printf '\\%o' $i)
  case $i in
    36 | 64 | 96) : ;; # $ and ` stand for prefixes, @ begins codes
    34 | 92) printf "\"\\\\${c}x\\\\${c}\\\\${c}\"\n" ;; # a quote, a backslash
    63) printf "\"${c}x\"\n" ;; # two question marks may begin a trigraph
    *) printf "\"${c}x${c}${c}\"\n" ;;
  esac >> k.inc
  i=$((i + 1))
done
printf '%120s\n' '' | tr ' ' '"' >> k.inc
printf '"%118s"\n' '' | tr ' ' '\\' >> k.inc
sed -e 's/^    + / +/' \
  -e 's/^! .* ~ "/! # % \&()* +,- . \/0:;< = > ?A[]^_ a{|}~ "/' k.inc > k.out
check "code and strings" embeds k.inc k.out
check "the same in pedantic C" embeds k.inc k.out -std=c99 -pedantic -Werror
check "a line of the header for each line that is not empty" test "$(grep -c . k.inc)" -eq "$(grep -c '\\n"' h.h)"
check "the lines around the markers stay" grep -qx 'typedef int first;' h.h
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
grep '^"' h.h > lines.txt
check "the form of a line" cmp -s literal.txt lines.txt
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
return a - -b + (c & &d) / *e - -1;
#define F (a  +  b)
END
cat > comments.out <<'END'
first /*  stays  */
a b
#define M(x) \
 x \
 \
 +1
s= "/* stays  */ // \" /* stays";
c= '"';d= '\'';




x=1;
e f g
_Pragma("unroll // 4")x/y
#pragma once
return a- -b+(c& &d)/ *e- -1;
#define F (a + b)
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

printf '%s\n' 'fine' 'kernel a void b(int c) { /* gone */' '  if (c) {' '  }' '}' 'kernel' 'kernel d void' 'e(int f,' \
  '  int g) {' '}' > kernels.inc
sed -e 's/^ *//; s/ {.*gone.*/{ GPUSCAN_ONE_ITEM/; s/g) {/g){ GPUSCAN_ONE_ITEM/; s/^if (c) /if(c)/' \
  kernels.inc > kernels.out
check "how kernels begin" embeds kernels.inc kernels.out

# --- values: the marks of functions from which an expression can be reached

cat > values.inc <<'END'
first
static int gpuscan_low(void) { return GPUSCAN_IDENTITY; }
static int gpuscan_other(int a) { return a; }
#define gpuscan_same gpuscan_far
static int gpuscan_far(int a) { return a; }
#define gpuscan_high(a) gpuscan_other(gpuscan_low() + (a))
#define GPUSCAN_DEFINE(name, half) \
    static int name(GPUSCAN_VALUES_PARAMETER int a) { return half(GPUSCAN_VALUES_ARGUMENT a); }
static int gpuscan_up(
    int a) {
    return gpuscan_same(gpuscan_high(a));
}
GPUSCAN_DEFINE(gpuscan_made, gpuscan_up)
kernel void gpuscan_one(int a) {
    gpuscan_made(a); gpuscan_same(a);
}
kernel void gpuscan_two(int a) {
    gpuscan_other(a);
}
#undef gpuscan_same
#define gpuscan_same gpuscan_up
END
cat > values.out <<'END'
first
static int `low(`*){return $IDENTITY;}
static int `other(int a){return a;}
#define `same `far
static int `far(`+int a){return a;}
#define `high(`-a) `other(`low(`.) + (a))
#define $DEFINE(name, half) \
 static int name(`+int a){return half(`-a);}
static int `up(`+
int a){
return `same(`-`high(`-a));
}
$DEFINE(`made,`up)
kernel void `one(`%int a){ $ONE_ITEM`=
`made(`-a);`same(`-a);
}
kernel void `two(`%int a){ $ONE_ITEM
`other(a);
}
#undef `same
#define `same `up
END
new_header
"$embed" values.inc h.h
sed -n 's/^"\(.*\)\\n",*$/\1/p' h.h | sed 's/\\\\$/\\/' > back.txt
check "marks for values" diff back.txt values.out

# --- words

# with_words LIST: the header has words for codes.
with_words() {
  new_header
  { echo 'static const char gpuscan__words[][8] = {'; echo "$1"; echo '};'; cat h.h; } > t.h && mv t.h h.h
}
printf '%s\n' 'x' 'for (uint GPUSCAN_UINT = uinta; gpuscan_for(for (1)); "for(") for(b(1)' > words.inc
with_words '    "for(", "uint ", "uint", "ab(",'
"$embed" words.inc h.h
check "codes stand for words" grep -qxF '"@#@$$UINT=@%a;`@#@#1)); \"@#\")@#b(1)\n",' h.h
check "and are fresh" "$embed" --check words.inc h.h
list=
for i in 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28; do
  for k in a b c d e f g h; do list="$list \"$i$k\","; done
done
list="$list \"29a\", \"29b\", \"29c\", \"29d\", \"29e\", \"29f\", \"29g\", \"29h\", \"30a\", \"30b\", \"30c\", \"30d\","
with_words "$list"
printf '%s\n' 'x' '10a 21d 21e 24f 24g 27h 28a 29b 29c 30d' > words.inc
"$embed" words.inc h.h
check "164 of them" grep -qxF '"@# @~ $a $z `A `Z $0 $9 `0 `9\n",' h.h
with_words "$list \"more\""
check "but no more" refused words.inc 'h.h: more than 164 words'
printf '%s\n' 'x' 'a = "@p";' > words.inc
with_words '    "for(",'
check "an @" refused words.inc 'words.inc:2: a character that begins a code'
with_words '    "for(", "@",'
"$embed" words.inc h.h
check "an @ that is a word" grep -qxF '"a= \"@$p\";\n",' h.h
with_words '    "$UINT", "`add(`-", "`one(`.)",'
printf '%s\n' 'x' 'static int gpuscan_one(void) { return GPUSCAN_IDENTITY; }' \
  'static int gpuscan_add(int a) { return a + gpuscan_one(); }' \
  'static int gpuscan_sum(void) { return gpuscan_add(gpuscan_one() + GPUSCAN_UINT); }' > own.inc
"$embed" own.inc h.h
check "words may hold prefixes and marks" grep -qF 'return @$@%+@#);}' h.h
with_words '    "uintptr_uintptr_",'
check "a word that is too long" refused own.inc 'h.h: a word of 0 or more than 13 characters'
with_words '    "", "uint",'
check "an empty word" refused words.inc 'h.h: a word of 0 or more than 13 characters'
with_words '    "uint", /* not "19" */'
printf '%s\n' '15a 19' > words.inc
"$embed" words.inc h.h
check "a text in a comment is no word" grep -qxF '"15a 19\n",' h.h
new_header
printf '%s\n' 'fine' 'int GPUSCAN_a;' > bad.inc
check "GPUSCAN_ before the code of a word" refused bad.inc 'bad.inc:2: a prefix before the code of a word'
printf '%s\n' 'fine' 'int gpuscan_B;' > bad.inc
check "gpuscan_ before the code of a word" refused bad.inc 'bad.inc:2: a prefix before the code of a word'
printf '%s\n' 'fine' '  #define F (a)' > bad.inc
check "a directive behind blanks" refused bad.inc 'bad.inc:2: a directive that does not begin its line'
printf '%s\n' 'fine' 'int y = 0x1e - 5;' > hex.inc
"$embed" hex.inc h.h
check "a hexadecimal number before a minus" grep -qxF '"int y=0x1e -5;\n",' h.h
cp h.h whole.h
printf '\000' >> h.h
check "a NUL byte" not "$embed" --check hex.inc h.h
mv whole.h h.h

# --- pieces

# Two operations. Programs of both have A; B or C those of the first one, by its condition; D those of the second one.
cat > pieces.inc << 'END'
/* a licence */
/*
   SECTIONS    of old
               [A] [C]

   more */
#define GPUSCAN_TOP 1
/* [A] - */
#define GPUSCAN_A(x) gpuscan_of_a(x)
typedef struct {
    int member;
} gpuscan_struct;
typedef int gpuscan_type[GPUSCAN_TOP];
#if GPUSCAN_TOP
static int gpuscan_of_a(int x) { return x; }
#endif
/* [B B] --- */
static int gpuscan_by_cpu(int x) { return GPUSCAN_A(x); }
#define X GPUSCAN_A
#undef X
/* [C-1] - */
static int gpuscan_by_cpu(int x) { return -GPUSCAN_A(x); }
#define X gpuscan_by_cpu
#undef X
/* [D] - */
#if GPUSCAN_TOP
static int gpuscan_user(void) { return gpuscan_of_a(1); }
#endif
int gpuscan_d;
END
cat > lists.h << 'END'
#if 0
GPUSCAN__SHARED uint64_t gpuscan__common_pieces(void) {
    return GPUSCAN__PIECE(TOP, 1) | GPUSCAN__PIECE(A, 1);
}
static uint64_t gpuscan__scan_pieces(const gpuscan__key *key) {
    int cpu = is_cpu(key);
    return gpuscan__common_pieces() | GPUSCAN__PIECE(B_B, cpu) |
           GPUSCAN__PIECE(C_1, !cpu);
}
static uint64_t gpuscan__sort_pieces(const gpuscan__key *key) {
    return gpuscan__common_pieces() | GPUSCAN__PIECE(D, fast && !cpu);
}
#define gpuscan__other_pieces  gpuscan__sort_pieces
#endif
END
new_lists() {
  new_header
  cat lists.h h.h > t.h && mv t.h h.h
}
# compiled SCAN SORT OTHER: the text that the program of h.h prints, with these operations.
compiled() {
  cp h.h program.c && "${CC:-cc}" -std=c99 -pedantic -Werror "-DGPUSCAN__HAS_SCAN=$1" "-DGPUSCAN__HAS_SORT=$2" \
    "-DGPUSCAN__HAS_OTHER=$3" -o program program.c && ./program
}
new_lists
cp pieces.inc list.inc
chmod 664 list.inc
check "--check finds a stale list of sections" not "$embed" --check list.inc h.h 2> err.txt
check "and names its file" grep -q '^embed: list.inc is stale: run tools/embed' err.txt
check "and does not write it" cmp -s pieces.inc list.inc
"$embed" list.inc h.h
sed 's/^  *\[A\] \[C\]$/               [A] [B B] [C-1] [D]/' pieces.inc > listed.inc
check "the list of sections is written" cmp -s listed.inc list.inc
check "its mode stays" test "$(ls -l list.inc | cut -c1-10)" = -rw-rw-r--
touch -t 200001010000 list.inc
"$embed" list.inc h.h
check "a fresh list is not written" test -n "$(find list.inc -mtime +1000)"
sed '/^.. \[/,$d' pieces.inc > long.inc
echo 'static uint64_t gpuscan__scan_pieces(int x) {' > long.h
for i in 0 1 2 3 4 5 6 7 8 9; do
  for piece in A B C D E; do
    echo "/* [PIECE $piece$i] - */" >> long.inc
    echo "GPUSCAN__PIECE(PIECE_$piece$i, 1)" >> long.h
  done
done
{ echo '}'; sed '1,/#endif/d' h.h; } >> long.h
"$embed" long.inc long.h
check "a long list has lines of at most 120 columns" test "$(awk 'length > 120' long.inc | wc -l)" -eq 0
check "and all names" test "$(sed '/more/q' long.inc | tr ']' '\n' | grep -c '\[PIECE')" -eq 50
compiled 1 1 1 > back.txt
sed -n 's/^#line \([0-9]*\).*/\1/p' back.txt > lines.txt
check "pieces, each behind the line of its first code" test "$(tr '\n' ' ' < lines.txt)" = '9 18 22 26 '
grep -v '^#line' back.txt > t.txt && mv t.txt back.txt
sed '2,6s/.*//; /^.. \[/d; s/^ *//; s/ {/{/; s/{ /{/; s/; }/;}/; s/} /}/; s/ -/-/' listed.inc > pieces.out
check "and their text" diff pieces.out back.txt
compiled 0 1 1 > back.txt
check "without an operation its pieces do not exist" test "$(grep -c by_cpu back.txt)" -eq 0
check "but those of others" test "$(grep -c 'gpuscan_of_a\|gpuscan_d' back.txt)" -eq 4
compiled 1 0 0 > back.txt
check "nor those of two" test "$(grep -c 'gpuscan_d' back.txt)" -eq 0
compiled 1 0 1 > back.txt
check "a list by another name" grep -q gpuscan_d back.txt
sed 's/return -/return none +/; s/^int gpuscan_d/no/' list.inc > wrong.inc
new_lists
"$embed" wrong.inc h.h && compiled 1 1 1 > copy.c
LC_ALL=C "${CC:-cc}" -fsyntax-only copy.c 2>&1 | grep -o '^kernels.cl.inc:2[0-9]*' | sort -u > lines.txt
check "a compiler tells the lines of kernels.cl.inc" test "$(tr '\n' ' ' < lines.txt)" = \
  'kernels.cl.inc:22 kernels.cl.inc:29 '

# refused_piece SED MESSAGE [SED]: refused where the kernels are changed, and the lists.
refused_piece() {
  new_lists
  sed "${3-}" h.h > t.h && mv t.h h.h
  sed "$1" list.inc > bad.inc
  cp bad.inc before.inc
  refused bad.inc "$2" && cmp -s bad.inc before.inc
}
check "nothing is changed" not refused_piece '' ''
check "a head line without a line" refused_piece 's/\[D\] -/[D]/' 'bad.inc:25: not a piece, /* [NAME] ---- */'
check "a head line with more" refused_piece 's/\[D\] -/[D], more -/' 'bad.inc:25: not a piece'
check "a head line in lower case" refused_piece 's/\[D\]/[Dd]/' 'bad.inc:25: not a piece'
check "two pieces of a name" refused_piece 's/\[D\]/[A]/' 'bad.inc:25: a second piece A'
check "two pieces whose names differ in a blank" refused_piece 's/\[D\]/[B-B]/' 'bad.inc:25: a second piece B_B'
check "no list of sections" refused_piece 's/SECTIONS/none/' 'bad.inc: lacks the list SECTIONS'
check "an #if without an end" refused_piece '16d' 'bad.inc:16: an #if of [A] that does not end there'
check "an #if without an end in the last piece" refused_piece '28d' 'an #if of [D] that does not end there'
check "an #endif without an #if" refused_piece '14d' 'bad.inc:15: an #endif without an #if in [A]'
check "a piece of no operation" refused_piece 's/\[D\]/[E]/' 'bad.inc:25: no operation has [E]'
check "a list of no piece" refused_piece 's/\[D\]/[E]/' 'h.h: gpuscan__sort_pieces has D, which is no piece'
check "a piece listed twice" refused_piece '' 'h.h: gpuscan_scan has B_B twice' 's/(C_1,/(B_B,/'
for bad in 'cpu || fast' 'cpu > 1' '0' '(cpu)' 'cpu \&\& (fast)'; do
  check "the condition $bad" refused_piece '' 'h.h: the condition of D is ' "s/fast && !cpu/$bad/"
done
for name in 'static int gpuscan_of_a(int x) { return x; }' 'kernel void gpuscan_of_a(int x) {}' 'gpuscan_of_a(int x)' \
  '#define GPUSCAN_A 1' '#define GPUSCAN_TOP 1' 'typedef int gpuscan_type;' 'typedef int gpuscan_struct;' \
  '} gpuscan_struct;' '} GPUSCAN_ALIGNED gpuscan_struct;'; do
  check "a name of two pieces, $name" refused_piece "29s/.*/$name/" 'bad.inc:29: ['
done
check "a struct of two pieces" refused_piece '9s/.*/struct gpuscan_s { int x; };/; 29s/.*/typedef union gpuscan_s {/' \
  'bad.inc:29: [A] defines gpuscan_s, too'
check "a macro of two pieces" refused_piece '20d; 24d' 'bad.inc:22: [B_B] defines X, too' 's/!cpu)/fast)/'
check "conditions that do not exclude each other" refused_piece '' 'bad.inc:22: [B_B] defines gpuscan_by_cpu, too' \
  's/!cpu)/fast)/'
check "a name of a piece that a program lacks" refused_piece '29s/.*/ x = gpuscan_by_cpu(1);/' \
  'bad.inc:29: not in all programs of gpuscan_sort with [D]: gpuscan_by_cpu'
check "a name of a piece that some programs lack" refused_piece '11s/.*/ gpuscan_user member;/' \
  'bad.inc:11: not in all programs of gpuscan_scan with [A]: gpuscan_user'
check "a macro that some programs lack" refused_piece '19s/X/GPUSCAN_X/; 20d; 16s/.*/&\
int a = GPUSCAN_X;/' 'bad.inc:17: not in all programs of gpuscan_scan with [A]: GPUSCAN_X'
check "in #if a name that no program has" refused_piece '27s/of_a(1)/by_cpu(1)/' \
  'bad.inc:27: not in all programs of gpuscan_sort with [D]: gpuscan_by_cpu'

# --- the length of literals: at most 4,094 characters as the compiler sees them, one less than C99 promises

cat > lengths.c <<'END'
#include <string.h>
#define main print_kernels
#include "h.h"
#undef main
int main(void) { /* each literal's length and first line */
    const char *const *text;
    for (text = gpuscan__piece_top; *text; text++)
        printf("%lu %.*s\n", (unsigned long)strlen(*text), (int)strcspn(*text, "\n"), *text);
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
printf 'fine\nkernel void bad(int a,\n  int b) { int c;\n}\n' > bad.inc
check "a kernel that begins in a line" refused bad.inc 'bad.inc:2: the brace of a kernel does not end its line'

: > bad.inc
check "an empty file" refused bad.inc 'bad.inc: is empty'
check "a missing file" refused missing.inc 'cannot read missing.inc'
check "a folder" refused . 'cannot read .'
printf '%s\n' 'fine' 'int a$;' 'int `b;' > prefix.inc
check "a character that stands for GPUSCAN_" refused prefix.inc 'prefix.inc:2: a character that stands for a prefix'
check "one that stands for gpuscan_" refused prefix.inc 'prefix.inc:3: a character that stands for a prefix'
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
missing_names() { # prints the internal names that gpuscan.h lacks; places.sh checks those in the table
  grep -v '^|' "$root/tests/README.md" | grep -o -i 'gpuscan__[a-z0-9_]*' | sort -u | while read -r name; do
    grep -q -w "$name" "$root/gpuscan.h" || echo "$name"
  done
}
check "gpuscan.h has the names in tests/README.md" test -z "$(missing_names)"
cat > whole.c <<'END'
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"
#include "pieces.h"
int main(void) {
    return puts(pieces_text()) < 0;
}
END
sed '/^static const char gpuscan__[a-z_]*words\[/,/^};/s/"[^"]\{2,\}"/"????"/g' "$root/gpuscan.h" > gpuscan.h
"$embed" "$root/kernels.cl.inc" gpuscan.h
for folder in . "$root"; do
  cp "$folder/gpuscan.h" t.h && sed "s|gpuscan.h|$PWD/t.h|" whole.c > program.c
  "${CC:-cc}" -I"$root/tests" -o program program.c -ldl && ./program > "whole.$([ "$folder" = . ]; echo $?)"
done
check "a program's text is the same with words and without" cmp -s whole.0 whole.1
code_of() { # prints the code of the kernels in a file, without comments, blanks and what tools/embed adds
  "${CC:-cc}" -w -fpreprocessed -dD -E -P -x c "$1" | grep -v '^ *#line' | sed 's/GPUSCAN_ONE_ITEM//' | tr -d ' \n\\'
}
code_of "$root/kernels.cl.inc" > code.0
code_of whole.1 > code.1
check "a program's text is the kernels' code" cmp -s code.0 code.1
check "and whole" test "$(awk '/^#line/ { n = $2 - 1; next } { n++ } END { print n }' whole.1)" -ge \
  "$(wc -l < "$root/kernels.cl.inc")"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
