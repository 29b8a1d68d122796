# SPDX-License-Identifier: Apache-2.0
# Java traces there and back, with the DTD in the file
for trace in closed odd; do
    steptrace convert $data/$trace.txt -o $trace.mtf
    steptrace convert $trace.mtf -o back.txt && cmp back.txt $data/$trace.txt && echo $trace
done
steptrace convert $data/closed.txt -o a.step && steptrace convert a.step -o b.mtf
steptrace convert b.mtf -o b.step
steptrace info a.step | grep -Ev '^(trace|format|blocks|converted-from)' >a.info
steptrace info b.step | grep -Ev '^(trace|format|blocks|converted-from)' | diff a.info -
steptrace dump b.mtf --kind OF,TE | head -n 3
steptrace check closed.mtf
# heap traces, as records, with the addresses in a section of their own, and not compressed
for options in "" --split=address --unpacked "--split=address --unpacked"; do
    steptrace convert $data/heap.hatf.txt -o heap.mtf $options
    steptrace convert heap.mtf -o back.hatf.txt && cmp back.hatf.txt $data/heap.hatf.txt &&
        echo "heap $options"
done
steptrace info heap.mtf | sed -n 3,4p
# a file without its DTD, and where that may be
head -c 16 heap.mtf | od -An -c | head -n 1
printf '\177MTF\001\001\010\0\0\0\0\0\0\0\0\0\0\0\0\0\044\0\0\0\0\0\0\0heap.dtd\002\001\004\040\0\0\0\0\020\0\0\0' >bare.mtf
steptrace dump bare.mtf
echo $?
mkfifo heap.dtd # the trace names it: nobody waits for it
timeout 20 "$STEPTRACE" dump bare.mtf
echo $?
rm heap.dtd
cat >heap.dtd <<DTD
size.width = 4; size.interpretation = none;
address.width = 4; address.interpretation = none;
section heap 1 { alloc : (tag, size, address, vfield) { tag.value = 4; } }
DTD
steptrace dump bare.mtf
mv heap.dtd other.dtd
steptrace dump bare.mtf --dtd other.dtd
steptrace info bare.mtf --dtd other.dtd | sed -n 4,5p
steptrace check bare.mtf --dtd other.dtd
printf 'tag.width = 1;\nx : (y {\n' >bad.dtd
steptrace dump bare.mtf --dtd bad.dtd
echo $?
# cut: what was good is kept
steptrace convert $data/closed.txt -o closed.mtf --unpacked
size=$(stat -c %s closed.mtf)
head -c $((size - 30)) closed.mtf >cut.mtf
steptrace dump cut.mtf 2>/dev/null | cmp - $data/closed.txt && echo all of it
steptrace check cut.mtf >check.out 2>/dev/null
echo $?
