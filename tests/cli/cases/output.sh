# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# What was there stays until the new file is complete; nothing is left behind.
echo precious >a.zip
steptrace convert none.step -o a.zip
cat a.zip
steptrace convert $data/closed.txt -o none/a.step
echo $?
steptrace convert $data/closed.txt -o a.zip && steptrace dump a.zip | cmp - $data/closed.txt
ls -A

echo A limit of file sizes:
for i in $(seq 2000); do cat $data/closed.txt; done >long.txt
steptrace convert long.txt -o long.step
for verb in "convert long.txt -o out.txt" "convert long.txt -o out.zip" "pack long.step -o out.step" "report long.step -o out.html"; do
    (ulimit -f 1 && steptrace $verb)
    echo $?
done
ls -A
echo 'record R { int x; }' >r.step
(ulimit -f 1 && stepc --c r r.step)
echo $?
ls -A r.*
