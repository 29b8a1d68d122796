# SPDX-License-Identifier: Apache-2.0
# A heap trace in all its forms, there and back again.
heap=$data/heap.hatf.txt
steptrace convert $heap -o a.hatf
for encoding in naive small-size same-size combined-size base-offset-1 base-offset-2 \
    best-base-offset stride best optimal; do
    steptrace convert $heap --encoding=$encoding -o b.hatf
    steptrace dump b.hatf | cmp - $heap || echo $encoding
    steptrace convert b.hatf -o b.step
    steptrace convert b.step --encoding=$encoding -o c.hatf
    cmp b.hatf c.hatf || echo $encoding
done
for split in fields address; do
    steptrace convert $heap --split=$split --encoding=best -o s.hatf.zip
    unzip -l s.hatf.zip | awk 'NR > 3 {print $4}' | xargs
    steptrace dump s.hatf.zip | cmp - $heap || echo $split
    steptrace dump - < s.hatf.zip | cmp - $heap || echo $split
done
steptrace convert a.hatf -o a.hatf.gz && steptrace dump a.hatf.gz | cmp - $heap
steptrace convert a.hatf --plain -o p.step && steptrace dump p.step | cmp - $heap
steptrace convert a.hatf -o a.step && steptrace dump a.step | cmp - $heap
steptrace pack p.step -o k.step 2>/dev/null && steptrace dump k.step | cmp - $heap
steptrace dump --thread 2 a.step
steptrace dump --kind OF --from-time 3us --to-time 3500ns a.hatf
steptrace convert a.hatf --omit=time+thread+heap+attributes -o - --to=hatf.txt | tail -n 4
steptrace convert a.hatf --to=memory-replay -o -
steptrace check a.hatf
steptrace info a.step | sed "s|^\(producer.*steptrace\) .*|\1 VERSION|; s|, [0-9,]* bytes.*|, N bytes|"
steptrace stats a.hatf | head -n 6
steptrace convert a.hatf -o a.txt; head -n 8 a.txt
