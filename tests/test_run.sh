#!/bin/sh
# Tests of tests/run.c, with programs that pass, fail, die, hang or say nothing: it runs in a folder whose programs only
# print what a test program would. Called by tests/run.sh. The last line is "N passed, N failed".

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/test_run
rm -rf "$work"
mkdir -p "$work/tests" "$work/build/tests/logs" && cd "$work" || exit 1
passed=0
failed=0

# check NAME PATTERN: a line of what the driver said matches the pattern, with N for the seconds.
check() {
  if sed 's/([0-9]* s, [0-9]* s of/(N s, N s of/' out.txt | grep -q -x -e "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1: no line is '$2'"
    cat out.txt
  fi
}

# program NAME COMMANDS: a program that prints what cmocka does about two tests, and does this in between.
program() {
  : > "tests/test_$1.c"
  cat > "build/tests/test_$1" << END_OF_PROGRAM
#!/bin/sh
echo "[==========] Running 2 test(s)."
echo "pthread, cpu, seed \$GPUSCAN_TEST_SEED"
echo "[ RUN      ] first"
echo "[       OK ] first"
echo "[ RUN      ] second"
$2
END_OF_PROGRAM
  chmod +x "build/tests/test_$1"
}
end='echo "[==========] 2 test(s) run."'

program good "echo '[       OK ] second'; $end"
program bad "echo '[  ERROR   ] --- 1 != 2'; echo '[  FAILED  ] second'; $end; exit 1"
program skips "echo '[  SKIPPED ] second'; $end; echo '[  SKIPPED ] 1 test(s), listed below:'"
program dies 'kill -s SEGV $$'
program gives_up 'exit 3'
program hangs '(sleep 5; echo > alive) & wait'
program dies_last "echo '[       OK ] second'; kill -s SEGV \$\$"
program ends_badly "echo '[       OK ] second'; $end; exit 1"
program mute ''
echo > build/tests/test_mute
printf '#!/bin/sh\n' > build/tests/test_mute
for name in optimized_or_not other reduce tracer; do
  program $name "echo '[       OK ] second'; $end; echo \"\$GPUSCAN_TEST_SHARE\$POCL_EXTRA_BUILD_FLAGS\""
done
: > tests/test_broken.c
echo 'broken.c: error' > build/tests/logs/test_broken-compile.txt
echo 'echo "left out: something"; echo "FAILED: a check"; echo "3 passed, 1 failed"' > tests/test_script.sh
echo 'echo "5 passed, 0 failed"' > tests/compile.sh
echo 'echo nonsense' > tests/reach.sh
echo 'echo "5 passed, 0 failed"; exit 1' > tests/trust.sh
: > tests/test_missing.c

"${CC:-cc}" -std=c99 "$root/tests/run.c" -o run || exit 1
unset GPUSCAN_TEST_AGAIN POCL_EXTRA_BUILD_FLAGS
OCL_ICD_VENDORS=$work/none GPUSCAN_TEST_SEED=7 GPUSCAN_TEST_SHARE=16 GPUSCAN_TEST_LIMIT=3
export OCL_ICD_VENDORS GPUSCAN_TEST_SEED GPUSCAN_TEST_SHARE GPUSCAN_TEST_LIMIT
./run > out.txt 2>&1
status=$?

check 'a program that passes' 'pocl: good: 2 passed, 0 failed (N s, N s of processor time)'
check 'a test that fails' 'pocl: bad: 1 passed, 1 failed (N s, N s of processor time)'
check 'the line that says why' ' *\[  ERROR   \] --- 1 != 2'
check 'a test that is skipped' 'pocl: skips: 1 passed, 0 failed, 1 skipped (N s, N s of processor time)'
check 'a program that dies' 'pocl: dies: 1 passed, 1 failed: died in second with signal 11 (.*), 0 tests after it.*'
check 'a program that dies after its tests' 'pocl: dies_last: 2 passed, 1 failed: died in second with signal 11.*'
check 'a program that gives up' 'pocl: gives_up: 1 passed, 1 failed: died in second with status 3, 0 tests after it.*'
check 'a program that hangs' 'pocl: hangs: 1 passed, 1 failed: took too long in second, 0 tests after it.*'
check 'a program that fails at its end' 'pocl: ends_badly: 2 passed, 1 failed (N s, N s of processor time)'
check 'a program that says nothing' 'pocl: mute: 0 passed, 1 failed (N s, N s of processor time)'
check 'a program that does not compile' 'FAILED: test_broken does not compile:'
check 'why it does not' 'broken.c: error'
check 'a script that fails' 'test_script.sh: 3 passed, 1 failed (N s, N s of processor time)'
check 'what a script leaves out' ' *left out: something'
check 'a script that passes' 'compile.sh: 5 passed, 0 failed (N s, N s of processor time)'
check 'a script whose status is 1' 'trust.sh: 5 passed, 1 failed (N s, N s of processor time)'
check 'a program that is missing' 'FAILED: test_missing was not compiled'
check 'a script that does not say what passed' 'reach.sh: 0 passed, 1 failed (N s, N s of processor time)'
total=$(sed -n 's/^[a-z].*: \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' out.txt |
  awk '{ p += $1; f += $2 } END { print p " passed, " f + 2 " failed" }')
[ "$(tail -1 out.txt)" = "$total, 1 skipped" ] || echo "the last line is not $total, 1 skipped" >> out.txt
check 'the sum' "$total, 1 skipped"
[ $status = 1 ] && echo 'status 1' >> out.txt
check 'the status' 'status 1'
sleep 3
[ -e alive ] || echo 'ended' >> out.txt
check 'what a program started ends with it' 'ended'

# All that fails is taken away.
rm -f tests/test_[bdeghms]* tests/reach.sh tests/trust.sh build/tests/logs/*
./run > out.txt 2>&1 && echo 'status 0' >> out.txt
check 'the status where all pass' 'status 0'
cat build/tests/logs/pocl-test_o*.txt >> out.txt
check 'kernels that are not optimized' '16 -cl-opt-disable'
for turn in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
  GPUSCAN_TEST_SEED=$((turn * 97)) GPUSCAN_TEST_AGAIN=$turn ./run > /dev/null 2>&1
  grep -h -x 64 build/tests/logs/pocl-test_o*.txt >> out.txt
  grep -q -x 64 build/tests/logs/pocl-test_reduce.txt && echo 'reduce, too' >> out.txt
done
check 'kernels that are, with a quarter of the share' 64
check 'a long program, too' 'reduce, too'
ls build/tests/logs >> out.txt
check 'another seed of a program of kernels' 'pocl-seed-[0-9]*-test_other.txt'
grep -q 'pocl-seed-.*-test_tracer' out.txt || echo 'none of tracer' >> out.txt
check 'no other seed of a program of the host' 'none of tracer'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
