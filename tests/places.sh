#!/bin/sh
# Lists the places of a change: the lines that the names in a table of tests/README.md stand for ("Changing the code").
#     sh tests/places.sh 'an operator'     the rows whose first column has these words
#     sh tests/places.sh --check           says which names of the table stand for nothing; tests/compile.sh calls this
# A name in backticks stands for its definition, [NAME] for a section, NAME.h for a file, NAME* for all lines with it.
# Lines of gpuscan.h's embedded kernels are left out.

cd "$(dirname "$0")/.." || exit 1
[ $# = 1 ] || { sed -n '2,6s/^# *//p' "$0"; exit 2; }

{
  awk '/kernels.cl.inc: begin/ { inside = 1 }
    !inside { print FILENAME ":" FNR ":" $0 }
    /kernels.cl.inc: end/ { inside = 0 }' gpuscan.h
  grep -n '' kernels.cl.inc tests/*.[ch] tests/*.sh tools/*.[ch] examples/*.py
} | awk -v wanted="$1" '
  # whether a line of code defines `name`: a macro, function, type, table, row, enumerator or member
  function defines(line, name) {
    return line ~ "^ *#define " name "([ (]|$)" || line ~ "^    X\\(" name "[,)]" || line ~ "^" name " = " ||
      line ~ "^[A-Za-z].*[ *]" name "\\(.*[^;]$" || line ~ "^typedef .*[ *]" name "( \\{|;)" ||
      line ~ "^} " name "[;[]" || line ~ "^[A-Za-z].*[ *]" name "(\\[.*)? = " ||
      line ~ "^ *" name "( = .*)?,( |$)" || line ~ "^    enum .* " name
  }
  function place(token,    name, all, k, hit, found) {
    all = token ~ /[*]$/
    name = token
    sub(/[*]$/, "", name)
    for (k = 1; k <= count; k++) {
      if (file[k] == "tests/README.md" || file[k] == "tests/places.sh")
        continue
      if (name ~ /^\[/)
        hit = index(code[k], "/* " name " ---")
      else if (name ~ /[.](h|c|sh|py)$/)
        hit = file[k] ~ "/" name "$" && line[k] == 1
      else if (all)
        hit = code[k] ~ "(^|[^A-Za-z0-9])" name "([^A-Za-z0-9_]|$)"
      else
        hit = index(code[k], name) && defines(code[k], name)
      if (hit)
        found = marked[k] = 1
    }
    if (!found) {
      print "tests/README.md: " token " stands for nothing"
      missing = 1
    }
  }
  FILENAME == "-" {
    count++
    file[count] = $0
    sub(/:.*/, "", file[count])
    code[count] = substr($0, length(file[count]) + 2)
    line[count] = code[count] + 0
    sub(/^[0-9]*:/, "", code[count])
    next
  }
  /^## Changing the code/ { inside = 1 }
  inside && /^\| / && (wanted == "--check" || index($2, wanted)) {
    rows++
    if (wanted != "--check")
      print "--" $2 "\n" $3
    n = split($3, tokens, "`")
    for (i = 2; i <= n; i += 2)
      place(tokens[i])
    for (k = 1; k <= count; k++) {
      if (marked[k] && wanted != "--check")
        print file[k] ":" line[k] ": " code[k]
      delete marked[k]
    }
  }
  END { if (!rows) print "tests/README.md has no such row"; exit missing || !rows }
' - FS='|' tests/README.md
