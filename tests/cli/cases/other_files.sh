# SPDX-License-Identifier: Apache-2.0
: >empty.step
: >empty.zip
: >empty.txt
echo hello >text.step
mkdir directory.step
for file in empty.step empty.zip text.step directory.step; do
    steptrace dump $file
    echo $?
done
steptrace dump empty.txt
echo $?
steptrace convert empty.txt -o e.step && steptrace dump e.step && steptrace convert e.step -o e.zip &&
    unzip -p e.zip trace 2>/dev/null
steptrace stats e.step
steptrace info e.step | grep events
