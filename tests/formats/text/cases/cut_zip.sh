# SPDX-License-Identifier: Apache-2.0
steptrace convert $data/closed.txt -o a.zip
head -c 150 a.zip >cut.zip
steptrace dump cut.zip >part.txt 2>told
echo $? $(wc -l <told)
head -c "$(wc -c <part.txt)" $data/closed.txt | cmp - part.txt
sed 's/offset [0-9]*: line [0-9]*/offset N: line N/' told
