# SPDX-License-Identifier: Apache-2.0
# Breaches with record and offset; input that is cut or bad.
steptrace check $data/heap_breaches.hatf.txt; echo $?
steptrace convert $data/heap_breaches.hatf.txt -o b.hatf && steptrace check --limit 2 b.hatf; echo $?
steptrace convert $data/heap.hatf.txt -o a.hatf
head -c 120 a.hatf > cut.hatf
steptrace convert cut.hatf -o cut.step; echo $?
steptrace dump cut.step | tail -n 1
gzip -c a.hatf | head -c 150 > cut.hatf.gz
steptrace check cut.hatf.gz; echo $?
printf '\014' > bad.hatf
steptrace dump bad.hatf; echo $?
printf 'alloc 16 32\nfree 0x10\n' > bad.hatf.txt
steptrace info bad.hatf.txt; echo $?
steptrace convert a.hatf --split=fields -o s.hatf.zip && zip -qd s.hatf.zip size
steptrace dump s.hatf.zip; echo $?
printf 'alloc 16 32 5\n' | steptrace convert --from=hatf.txt - -o x.hatf; echo $?
steptrace convert a.hatf --encoding=tiny -o x.hatf; echo $?
steptrace convert a.hatf --split=time -o x.hatf; echo $?
steptrace convert a.hatf --omit=size -o x.hatf; echo $?
# which formats there are is a matter of the build
steptrace convert a.hatf --level=5 -o x.hatf 2>level.err; echo $?
sed 's/option of .*, not of/option of others, not of/' level.err >&2
steptrace convert a.hatf --level=5 -o x.hatf.gz; echo $?
: > none.hatf # of a recorder that died before it wrote anything
gzip -k none.hatf
for file in none.hatf none.hatf.gz; do
    steptrace check $file; echo $?
done
