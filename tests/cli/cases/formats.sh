# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# all formats of the table are in the help, the completions, the manual and README, with their endings;
# an option that belongs to other formats is refused
root=$data/../../..
steptrace convert --help | sed -n 's/^  \([a-z][a-z.-]*\)  *\(\.[a-z.-]*\)*  .*/\1 \2/p' >formats
wc -l <formats
steptrace help --completion=bash | sed -n "/'convert --to')/p" | tr "' " '\n\n' >completed
sed -n '/^.It Fl -to Ns/,/^.It Fl -level/p' "$root/docs/man/steptrace.1" | tr ' ' '\n' >manual
sed -n '/^## Formats/,/^## /p' "$root/README.md" | tr ' ' '\n' | tr -d '`|,' >readme
while read -r name ending; do
    for page in completed manual readme; do
        grep -qxF "$name" $page || echo "$name: not in $page"
    done
    [ -z "$ending" ] || grep -qxF "$ending" readme || echo "$ending: not in README"
done <formats
steptrace convert --from=none x -o y.step
while read -r out option; do
    steptrace convert "$data/closed.txt" -o "$out" "$option" && echo "$out $option: taken"
done <<'END'
x.step --encoding=best
x.txt --level=3
x.hatf --plain
x.hatf.txt --split=fields
x.mtf --addresses=bump
x.simple.bin --layout=index
x.hatf --field-bytes=4
x.heaptrack --at=end
x.collapsed --v2
x.pb.gz --every=gc
x.hprof --allocated
x.trace.json --least=1%
x.csv --table=objects
x.jsonl --clock
x.ctf --omit=time
x.zip --record=Missing
END
steptrace convert "$data/closed.txt" -o in.step
for option in --record=java.ObjectAlloc --level=1 --plain --omit=time; do
    steptrace convert in.step -o taken.step $option || echo "$option: refused"
done
steptrace convert "$data/closed.txt" --to=parquet -o x --at=end
steptrace convert "$data/closed.txt" --to=clickhouse-native -o x --level=3
ls
