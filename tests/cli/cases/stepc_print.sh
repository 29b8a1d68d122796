# SPDX-License-Identifier: Apache-2.0
# The canonical form of each definition parses to the same: it prints the same, and so does its schema.
tree=$data/../../..
for file in $tree/{format,examples}/definitions/*.step $data/*.step; do
    name=$(basename $file)
    stepc --print $file >$name || echo "$name: exit $?"
    stepc --print $name >again.step && cmp $name again.step
    stepc --json $file >first.json && stepc --json $name >second.json && cmp first.json second.json
    stepc --doc $file >first.md && stepc --doc $name >second.md && cmp first.md second.md
    [ -s $name ] && [ -s first.json ] && [ -s first.md ] || echo "$name: empty"
done
cat all_of_it.step
