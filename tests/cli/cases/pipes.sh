# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# Standard input and output, a reader that goes away, a full disk.
cat $data/closed.txt | steptrace convert - --from=lines --to=step -o - | steptrace dump - | cmp - $data/closed.txt
steptrace convert $data/closed.txt --to=text -o - >a.zip
cat a.zip | steptrace dump - | cmp - $data/closed.txt
(yes 'CL:1:A' | head -n 300000) >many.txt
steptrace dump many.txt | head -n 1
steptrace stats many.txt | head -n 1
steptrace dump many.txt >/dev/full
echo $?
steptrace info $data/closed.txt >/dev/full
echo $?
steptrace convert many.txt --to=step -o /dev/full
echo $?

echo An incomplete trace:
for words in 'stats' 'leaks'; do
    steptrace $words - <$data/traces/drops.step >/dev/null
    echo "$words: $?"
done
