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
echo "-- compressed by another program"
for start in '\x1f\x8b\x08\x00' '\xfd7zXZ\x00' '\x28\xb5\x2f\xfd\x00'; do
    printf "${start}rest" >packed.step
    steptrace stats packed.step
    echo $?
done
echo "-- a format that there is not"
steptrace convert --to=speedscop e.step -o e.json
echo $?
