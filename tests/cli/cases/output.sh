# SPDX-License-Identifier: Apache-2.0
# What was there stays until the new file is complete; nothing is left behind.
echo precious >a.zip
steptrace convert none.step -o a.zip
cat a.zip
steptrace convert $data/closed.txt -o none/a.step
echo $?
steptrace convert $data/closed.txt -o a.zip && steptrace dump a.zip | cmp - $data/closed.txt
ls -A
