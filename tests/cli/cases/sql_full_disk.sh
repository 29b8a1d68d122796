# SPDX-License-Identifier: Apache-2.0
# The disk is full on which SQL groups rows: that is said, and how it is called.
steptrace sql x.step "select 1" 2>&1 | grep -q 'this build has no SQLite' && exit 77
grep -q __asan_report_ "$STEPTRACE" && exit 77 # its own tables do not fit into a limit
unshare -rm sh -c 'mount -t tmpfs -o size=1m none .' 2>/dev/null || exit 77
{
    printf 'VS:0\nVI:0\nTB:0:1\nCL:0:A\nCL:0:B\n'
    seq 700000 | awk '{ printf "OA:%d:%s:%d\n", $1 * 3001, substr("AB", $1 % 2 + 1, 1), $1 }'
    printf 'VD:9000000000\n'
} >many.txt
steptrace convert many.txt -o many.step
mkdir disk
unshare -rm sh -c 'mount -t tmpfs -o size=1m none disk && TMPDIR=disk "$@"' sh "$STEPTRACE" sql many.step --memory=32m \
    "select class, count(*), sum(object), sum(born) from objects group by class"
echo "exit $?"
