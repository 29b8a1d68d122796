# SPDX-License-Identifier: Apache-2.0
# Rows that SQL groups: with little memory they lie in a temporary file, and the answer is the same.
steptrace sql x.step "select 1" 2>&1 | grep -q 'this build has no SQLite' && exit 77
grep -q __asan_report_ "$STEPTRACE" && exit 77 # its own tables do not fit into a limit
{
    printf 'VS:0\nVI:0\nTB:0:1\nCL:0:A\nCL:0:B\nCL:0:C\n'
    seq 700000 | awk '{ printf "OA:%d:%s:%d\n", $1 * 3001, substr("ABC", $1 * $1 % 7 % 3 + 1, 1), $1 }'
    printf 'VD:9000000000\n'
} >many.txt
steptrace convert many.txt -o many.step
groups="select class, count(*), min(object), sum(object), sum(born) from objects group by class"
steptrace sql many.step "$groups"
steptrace sql many.step "$groups" --memory=32m | cmp - <(steptrace sql many.step "$groups") && echo "the same with 32m"
echo "-- without a place for the file, with little memory and with more"
TMPDIR=none steptrace sql many.step "$groups" --memory=32m --csv || echo "exit $?"
TMPDIR=none steptrace sql many.step "$groups" --memory=256m --csv
echo "-- ids of rows, which are found when they are asked for"
steptrace sql many.step "select class, rowid from objects group by class having rowid = min(rowid)" --memory=32m
