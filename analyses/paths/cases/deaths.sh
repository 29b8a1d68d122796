# SPDX-License-Identifier: Apache-2.0
# No numbers of a trace that could not be read, and no file.
echo words >words.step
steptrace deaths words.step -o out.step
echo $?
ls
