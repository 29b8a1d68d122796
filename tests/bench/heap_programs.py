# SPDX-License-Identifier: Apache-2.0
"""Native programs whose heaps are traced, with inputs that are made here, from a seed."""
import pathlib
import random
import shutil
import subprocess

SEED = 20000509


def words(count):
    """Lines of words of a small vocabulary, some of them frequent."""
    pick = random.Random(SEED)
    vocabulary = ["".join(pick.choices("abcdefghijklmnopqrstuvwxyz", k=pick.randint(2, 11)))
                  for _ in range(4000)]
    return "".join(" ".join(vocabulary[int(len(vocabulary) * pick.random() ** 3)]
                            for _ in range(12)) + "\n" for _ in range(count))


def sqlite3(directory):
    tables = "".join(f"""
create table t{n}(a integer primary key, b text, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
  insert into t{n} select i, hex(i * {n + 7919}) || substr('{'x' * 60}', 1, i % 60), 'name' || i from n;
create index i{n} on t{n}(b);
select count(*), sum(length(b)) from t{n};
select a % 17, group_concat(c) from t{n} group by a % 17;
update t{n} set b = b || c where a % 3 = 0;
delete from t{n} where a % 7 = 1;
select x.c from t{n} x join t{n} y on x.a = y.a + 1 where y.b > '5' order by x.b limit 50;
""" for n in range(10))
    path = directory / "queries.sql"
    path.write_text(tables)
    return ["sqlite3", ":memory:", f".read {path}"], {}


def perl(directory):
    path = directory / "count.pl"
    path.write_text("""
my (%count, @people);
for my $i (1 .. 12000) {
    my @words = map { "w" . ($_ * $i % 977) } 1 .. 20;
    $count{$_}++ for @words;
    my $line = join(",", sort @words);
    $count{substr($line, 0, 20)} .= "x" if $i % 5 == 0;
    push @people, {id => $i, name => "n" . $i * 7 % 4001, friends => [1 .. $i % 5]} if $i % 2;
}
@people = sort { $a->{name} cmp $b->{name} } @people;
print scalar(keys %count), " ", $people[10]{id}, "\\n";
""")
    return ["perl", str(path)], {}


def gawk(directory):
    text = directory / "words.txt"
    text.write_text(words(30000))
    program = """{ for (i = 1; i <= NF; i++) { count[$i]++; last[$i] = $0; pair[$i, $(i + 1)]++ } }
        END { n = asorti(count, sorted); for (i = 1; i <= n; i++)
              line = sorted[i] ":" count[sorted[i]] ":" toupper(substr(last[sorted[i]], 1, 30));
              print n, length(pair), line }"""
    return ["gawk", program, str(text)], {}


def cc1(directory):
    pick = random.Random(SEED)
    source = directory / "program.c"
    functions = "".join(f"""
static int f{n}(const struct point *p, unsigned n, int *out)
{{
    int sum = {n};
    for (unsigned i = 0; i < n; i++) {{
        switch ((p[i].x + {n}) % 5) {{
        case 0: sum += p[i].y * {pick.randint(2, 99)}; break;
        case 1: sum ^= p[i].x << {n % 13}; break;
        case 2: out[i] = sum > {pick.randint(2, 9999)} ? p[i].x : {f"f{n - 1}(p + i, n - i, out)" if n else "0"}; break;
        default: sum -= (int) (p[i].z * {n + 0.5});
        }}
    }}
    return sum;
}}
""" for n in range(160))
    source.write_text("struct point { int x, y; double z; };\n" + functions
                      + "int run(const struct point *p, unsigned n, int *out)\n"
                        "{ return f159(p, n, out); }\n")
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                              check=True).stdout.strip()
    return [compiler, "-quiet", "-O2", str(source), "-o", "/dev/null"], {}


def dot(directory):
    pick = random.Random(SEED)
    graph = directory / "graph.dot"
    edges = "".join(f'  n{a} -> n{pick.randint(max(0, a - 40), a - 1)} [label="{a}"];\n'
                    for a in range(1, 420) for _ in range(1 + a % 2))
    graph.write_text(f"digraph g {{\n  node [shape=box];\n{edges}}}\n")
    return ["dot", "-Tsvg", str(graph), "-o", "/dev/null"], {}


def python3(directory):
    path = directory / "objects.py"
    path.write_text("""
import json
data = [{"a": i, "b": [str(j) for j in range(i % 10)], "c": {"k%d" % (i % 7): i / 3}} for i in range(9000)]
text = json.dumps(data)
print(len(text), sum(len(entry["b"]) for entry in json.loads(text)))
""")
    return ["python3", str(path)], {"PYTHONMALLOC": "malloc"}


def requests(heaps, *library):
    """Four threads; see heap_requests.c."""
    def build(directory):
        program = directory / "heap_requests"
        source = pathlib.Path(__file__).with_name("heap_requests.c")
        subprocess.run(["gcc", "-O2", f"-DHEAPS={heaps}", source, "-pthread", *library, "-o",
                        program], check=True)
        return [str(program), "4", "2000"], {}
    return build


PROGRAMS = {"sqlite3": sqlite3, "perl": perl, "gawk": gawk, "cc1": cc1, "dot": dot,
            "python3": python3, "requests": requests(0), "requests-je": requests(1, "-ljemalloc"),
            "requests-mi": requests(2, "-lmimalloc")}
NEEDS = {"cc1": "gcc", "requests": "gcc", "requests-je": "/usr/include/jemalloc/jemalloc.h",
         "requests-mi": "/usr/include/mimalloc.h"}


def available(name):
    needed = NEEDS.get(name, name)
    return pathlib.Path(needed).exists() if needed[0] == "/" else shutil.which(needed) is not None


def prepare(name, directory):
    """The command and what is added to its environment."""
    place = pathlib.Path(directory) / name
    place.mkdir(parents=True, exist_ok=True)
    return PROGRAMS[name](place)
