#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_case.sh STEPTRACE CASE.sh DIRECTORY: runs the case in the directory, which is emptied first.
# The case finds the programs as `steptrace` and `stepc`, and its inputs in $data.  With UPDATE=1 the expected
# files are written anew.
set -u
steptrace=$(realpath "$1")
case=$(realpath "$2")
expected=${case%.sh}
data=$(dirname "$(realpath "$0")")/data
rm -rf "$3"
mkdir -p "$3/work"
cd "$3/work" || exit 1
export data
case $data in
    *[[:space:]]*) ln -s "$data" ../data && data=../data ;; # cases do not quote it
esac
export STEPTRACE="$steptrace" LC_ALL=C
steptrace() { "$STEPTRACE" "$@"; }
stepc() { "$STEPC" "$@"; }
export -f steptrace stepc
bash -u "$case" >../out 2>../err </dev/null
code=$?
[ $code -eq 77 ] && exit 77
sed -i "s|$data|DATA|g" ../out ../err
if [ "${UPDATE:-}" = 1 ]; then
    for part in out err; do
        if [ -s ../$part ]; then cp ../$part "$expected.$part"; else rm -f "$expected.$part"; fi
    done
    if [ $code -ne 0 ]; then echo $code >"$expected.code"; else rm -f "$expected.code"; fi
    exit 0
fi
failed=0
for part in out err; do
    file=$expected.$part
    [ -e "$file" ] || file=/dev/null
    diff -u --label "expected $part" --label "actual $part" "$file" ../$part || failed=1
done
wanted=0
[ -e "$expected.code" ] && wanted=$(cat "$expected.code")
if [ $code -ne "$wanted" ]; then
    echo "exit code $code, not $wanted"
    failed=1
fi
exit $failed
