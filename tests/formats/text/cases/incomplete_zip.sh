# SPDX-License-Identifier: Apache-2.0
# A copy of an incomplete trace says so in the ZIP file's comment, and copies of the copy do.
# needs: all commands, zstd
whole=$data/traces/phases-17.step
head -c 20000 $whole >cut.step
for trace in $data/traces/drops.step cut.step $whole; do
    echo "-- $(basename $trace)"
    steptrace convert $trace -o a.zip 2>/dev/null; echo "exit $?"
    python3 -c 'import zipfile; print(zipfile.ZipFile("a.zip").comment.decode())'
    steptrace stats a.zip >/dev/null; echo "exit $?"
    steptrace convert a.zip -o b.step 2>/dev/null; echo "exit $?"
    steptrace convert b.step -o b.zip 2>/dev/null; echo "exit $?"
    cmp a.zip b.zip && echo the same
done
echo "-- other comments"
comment() { python3 -c 'import sys, zipfile
with zipfile.ZipFile("a.zip", "a") as file:
    file.comment = eval(sys.argv[1])' "$1"; }
for text in 'b"mine"' 'b"steptrace: the trace is incomplete: "' 'b"steptrace: the trace is incomplete: \\x1b[31m\\n\\xff"' \
    'b"steptrace: the trace is incomplete: " + b"y" * 60000' 'b"\\0"'; do
    comment "$text"
    steptrace stats a.zip >/dev/null; echo "exit $?"
done
