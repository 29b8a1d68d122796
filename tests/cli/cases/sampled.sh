# SPDX-License-Identifier: Apache-2.0
# Traces of engine=sampled: estimates, and what refuses them.  sampled-leak.bin is of a program that keeps
# 30,000 nodes a collection, and replaces the entries of a cache.  Both were recorded with JDK 17; their property
# java-vm-version was set to 25, since the intervals of older ones are not valid (sampled_bias.sh).
trace=$data/sampled.bin
leak=$data/sampled-leak.bin
steptrace stats --top 3 $trace
steptrace info $trace | grep -E '^(objects|engine|sample) '
steptrace check $trace
steptrace sql $trace 'select count(*) as samples from objects'
echo "-- heap"
steptrace heap --top 2 $leak
steptrace heap --by class+site --depth 1 --diff gc:3 end $leak
steptrace heap --allocated --csv --top 2 $leak
steptrace heap --by class --class=none.Such --top 2 $leak
echo "-- compare"
steptrace compare --by class $leak $leak
steptrace compare --top 3 $data/closed.txt $leak
echo "-- leaks"
steptrace leaks --depth 1 $leak
steptrace leaks --by class --baseline $trace $leak
echo "-- rules: the nearer bound of the interval decides"
gate() {
    steptrace "$@" --quiet
    echo "$1 '$3': $?"
}
exec 3>&2 2>&1
gate heap --fail-if 'class:Leaky$Node alive > 7m' $leak
gate heap --fail-if 'class:Leaky$Node alive > 10m' $leak
gate heap --fail-if 'class:Leaky$Node alive < 16m' $leak
gate heap --fail-if 'class:Leaky$Node alive < 13m' $leak
gate heap --fail-if 'class:Leaky$Node alive != 9m' $leak
gate heap --fail-if 'class:Leaky$Node alive > +3m' $leak --diff gc:3 end
gate stats --fail-if 'allocated > 1g' $trace
gate stats --fail-if 'alive_at_peak > 1' $trace
gate stats --fail-if 'allocated > +5%' --baseline $data/closed.txt $trace
gate compare --fail-if 'allocated > +1%' $leak $leak
gate compare --fail-if 'class:T$Mid allocated < -99%' $trace $leak
gate leaks --fail-if 'growth > 400k' $leak
gate leaks --fail-if 'growth > 600k' $leak
gate leaks --fail-if 'class:Leaky$Cached growth > 0' $leak
exec 2>&3 3>&-
echo "-- what needs all objects"
refuses() {
    steptrace "$@" >made 2>told
    echo "$1: $? $(grep -c 'engine=sampled' told) $(wc -c <made)"
}
refuses heap --at peak $trace
refuses heap --diff peak end $trace
refuses heap --tree=top-down --by site $trace
refuses heap --ages $trace
refuses heap --retained $trace
refuses compare --html x.html $trace $trace
refuses compare --tree $data/closed.txt $trace
refuses heap --temporary $trace
refuses heap --alive-at=peak $trace
refuses report --at peak $trace -o x.html
refuses paths $trace 1
refuses deaths $trace -o x.step
refuses replay $trace
refuses convert $trace -o x.hatf
refuses convert $trace -o x.step
refuses convert $trace -o x.jsonl
refuses convert $trace -o x.mtf
refuses stats --lifetimes=bytes $trace
ls x* 2>/dev/null
command -v python3 >/dev/null || exit 77
echo "-- weights in tables"
sums="select class, count(*) as samples, round(sum(weight)) as objects, round(sum(weight * size)) as bytes from"
steptrace sql $leak "$sums objects group by class order by class"
steptrace sql $leak "$sums allocations where class = 'Leaky\$Node' group by class"
steptrace sql $leak "select class, sum(alive) as alive, count(distinct weight) as weights from objects where size < 100 group by class"
steptrace sql $leak 'select * from live'
steptrace sql $data/traces/shop-1.step 'select weight from objects'
steptrace convert $leak --to parquet --table=objects,allocations -o lake >/dev/null
steptrace convert $leak --to parquet --table=live -o lake2
PYTHONPATH=$data/../../formats/parquet python3 - <<'END'
import glob, math, parquet_reader
for table in ("objects", "allocations"):
    [path] = glob.glob(f"lake/table={table}/**/*.parquet", recursive=True)
    names, columns, _ = parquet_reader.read(path)
    rows = dict(zip(names, columns))
    good = all(weight == 1 / -math.expm1(-size / 262144) for weight, size in zip(rows["weight"], rows["size"]))
    print(table, len(rows["weight"]), good, round(sum(w * s for w, s in zip(rows["weight"], rows["size"]))))
END
echo "-- watch: a trace that has ended has the figures of stats"
COLUMNS=80 LC_ALL=C steptrace watch --once --top 3 $leak
COLUMNS=150 LC_ALL=C steptrace watch --once --top 1 --by site --sort allocated $leak | tail -n 2
steptrace watch --once --sort rate $leak
for part in '' '--class=Leaky$C*' '--site=Leaky.main' '--thread=main' '--size=>=100' '--time=..320ms' '--class=none'; do
    steptrace watch --json --top 0 $part $leak >watch.json 2>/dev/null
    steptrace stats --json --top 0 $part $leak >stats.json 2>/dev/null
    python3 $data/../validate.py $data/../../../docs/schemas/watch-sampled.schema.json <watch.json
    python3 - <<'END'
import json
told, known = json.load(open("watch.json")), json.load(open("stats.json"))
def same(row, truth):
    return set(truth) - set(row) <= {"loader", "mean_lifetime_ns"} and all(row[key] == truth[key] for key in row)
classes = {row["name"]: row for row in told["classes"]}
rows = [row for row in known["classes"] if row["samples"] > 0]
print(told["total"]["samples"], same(told["total"], known["objects"]), len(rows),
      len(rows) == len(classes) and all(same(classes[row["name"]], row) for row in rows))
END
done
echo "-- report"
steptrace report $leak -o page.html --title 'A </script> & B'
python3 - page.html <<'END'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
print(data["title"], data["gaps"], data["moment"], data["allocated"], data["life"])
for key in ("classes", "growth"):
    for row in data[key]:
        print({name: row[name] for name in row if name != "site"})
print(data["sites"][0])
print([thread["number"] if "number" in thread else thread["thread"] for thread in data["threads"]])
print(sorted(set(re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page))), re.findall(r"https?:[^\"]*", page.replace("http://www.w3.org/2000/svg", "")))
END
steptrace stats --json $trace | python3 $data/../validate.py $data/../../../docs/schemas/stats.schema.json
valid() { python3 $data/../validate.py $data/../../../docs/schemas/$1.schema.json; }
steptrace heap --json $leak | valid heap
steptrace heap --json --by class+site+thread --diff gc:3 end $leak | valid heap
steptrace leaks --json --baseline $trace $leak 2>/dev/null | valid leaks
steptrace compare --json --by all $data/closed.txt $leak 2>/dev/null | valid compare
echo "-- how long it took is no estimate"
steptrace compare $data/sampled.bin,$leak $data/sampled.bin 2>/dev/null | grep duration
steptrace compare $data/sampled.bin $data/sampled.bin --json | grep -A 4 '"duration"'
steptrace stats $data/sampled.bin -q --fail-if 'duration > 0'
echo $?
