# SPDX-License-Identifier: Apache-2.0
# The lines before the bad one are kept, and that is told.
steptrace convert $data/bad_line.txt -o a.step
echo $?
steptrace dump a.step
steptrace convert $data/bad_line.txt -o a.zip 2>/dev/null
unzip -p a.zip trace 2>/dev/null | wc -l
steptrace dump $data/no_feed.txt
