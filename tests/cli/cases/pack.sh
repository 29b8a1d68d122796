# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# The same records in the same order, smaller, whatever the blocks; a damaged input is told.
steptrace convert $data/closed.txt -o a.step
steptrace pack a.step -o packed.step 2>&1 | sed 's/[0-9]* bytes of [0-9]* (.*)/BYTES/'
steptrace dump a.step >a.txt
steptrace dump packed.step | cmp - a.txt
steptrace check packed.step
for block in 1 3 1000; do
    steptrace pack --block $block --together 5 a.step -o blocks.step 2>/dev/null
    steptrace dump blocks.step | cmp - a.txt
    steptrace pack blocks.step -o again.step 2>/dev/null
    cmp packed.step again.step
done
size=$(wc -c <a.step)
head -c $((size - 20)) a.step >cut.step
steptrace pack cut.step -o whole.step 2>/dev/null
echo $?
steptrace dump whole.step | cmp - a.txt
steptrace pack a.step
echo $?
steptrace pack --block 0 a.step -o x.step
echo $?
echo no trace >other.step
steptrace pack other.step -o x.step
echo $?
ls
# ages that measure from each other: written as rows by an older writer, where that could be read
cp $data/age_circle.bin rows.step
steptrace dump rows.step >circle.txt
steptrace pack rows.step -o circle.step 2>/dev/null
echo $?
steptrace dump circle.step | cmp - circle.txt
wc -l <circle.txt
