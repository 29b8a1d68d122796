# SPDX-License-Identifier: Apache-2.0
# text -> step -> text, and through every ending, whatever stands in the lines
for name in closed odd; do
    for from in txt zip; do
        steptrace convert $data/$name.txt -o $name.zip || exit
        steptrace convert $name.$([ $from = zip ] && echo zip || { cp $data/$name.txt .; echo txt; }) -o $name.step || exit
        steptrace convert $name.step -o back.txt 2>/dev/null
        cmp $data/$name.txt back.txt
        steptrace convert $name.step -o back.zip 2>/dev/null
        cmp $name.zip back.zip
        steptrace dump $name.step 2>/dev/null | cmp - $data/$name.txt
    done
done
ls -A
