# SPDX-License-Identifier: Apache-2.0
# Some cuts and flipped bits (the fuzzers do it at every byte): no crash, and always exit code 0 or 3.
steptrace convert $data/closed.txt -o a.step
size=$(wc -c <a.step)
for ((i = 0; i < size; i += 31)); do
    head -c $i a.step >cut.step
    steptrace dump cut.step >out.txt 2>err.txt
    code=$?
    [ $code -eq 3 ] && [ -s err.txt ] || echo "cut at $i: $code"
done
for ((i = 0; i < size; i += 61)); do
    cp a.step flip.step
    byte=$(od -An -tu1 -j$i -N1 a.step)
    printf "\\x$(printf %x $((byte ^ 16)))" | dd of=flip.step bs=1 seek=$i conv=notrunc status=none
    steptrace dump flip.step >out.txt 2>err.txt
    code=$?
    [ $code -eq 3 ] || [ $code -eq 0 ] || echo "flip at $i: $code"
    [ $code -eq 0 ] && ! cmp -s out.txt $data/closed.txt && echo "flip at $i: not noticed"
done
true
