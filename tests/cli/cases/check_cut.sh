# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# A constructor that is over without its object is a breach, also of a trace that is cut; one in which
# the trace ends is none, and neither is the end without VD.
steptrace convert $data/cut.txt -o whole.step
head -c -8 whole.step >cut.step
steptrace check cut.step
echo $?
grep -v ':[67]:1' $data/cut.txt >open.txt
steptrace convert open.txt -o whole.step
head -c -8 whole.step >open.step
steptrace check open.step
echo $?
steptrace check open.txt
