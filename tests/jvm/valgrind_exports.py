# SPDX-License-Identifier: Apache-2.0
"""The same heap as Valgrind's tools write theirs: read here, by callgrind_annotate, ms_print and DHAT's page."""
import collections
import json
import pathlib
import re
import shutil
import subprocess

from session import Failure, shown

# In DHAT's own page: gives the file to its input, as a visitor does, and waits until the page shows it.
PROBE = """
<script src="run.js"></script>
<script>
addEventListener("load", () => {
  const given = new DataTransfer();
  given.items.add(new File([TEXT], "run.dhat.json"));
  gInput.files = given.files;
  loadFile();
  const wait = setInterval(() => {
    if (document.body.textContent.includes("At t-end")) {
      clearInterval(wait);
      console.warn("the probe has ended");
    }
  }, 50);
});
</script>
"""


def require(condition, text):
    if not condition:
        raise Failure(text)


def export(session, name, *options):
    session.step("convert", "run.step", "-o", name, *options)
    return pathlib.Path(session.path(name))


def check(session, rows):
    check_callgrind(session, rows)
    check_dhat(session, rows)
    check_massif(session, rows)


# ---- Callgrind ----

def read_callgrind(path):
    """Self costs by function; calls as (caller, line, callee): costs; and the totals."""
    names, own, calls = {}, collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    totals = function = callee = None

    def named(text):
        number, _, name = text.partition(") ")
        number = number.strip("()")
        if name:
            require(number not in names, f"callgrind: {number} is named twice")
            names[number] = name.partition("(")[0]  # without the descriptor
        return names[number]

    for line in path.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "fn":
            function = named(value)
        elif key == "cfn":
            callee = named(value)
        elif line.startswith("calls="):
            require(callee is not None, "callgrind: calls of nothing")
        elif line.startswith("totals:"):
            totals = [int(number) for number in line.split()[1:]]
        elif re.fullmatch(r"\d+ \d+ \d+", line):
            place, *costs = (int(number) for number in line.split())
            into = calls[function, place, callee] if callee else own[function]
            for i, cost in enumerate(costs):
                into[i] += cost
            callee = None
    return own, calls, totals


def check_callgrind(session, rows):
    path = export(session, "run.callgrind")
    own, calls, totals = read_callgrind(path)
    wanted, lines = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    for row in rows["rows"]:
        wanted[row["class"]][0] += row["bytes"]
        wanted[row["class"]][1] += row["objects"]
        if row["site"]:
            method, line = re.fullmatch(r"(.*?)(?:(?:\([^()]*)?:(\d+)\)?|@\d+)?", row["site"][0]).groups()
            key = method, int(line or 0), row["class"]
            lines[key][0] += row["bytes"]
            lines[key][1] += row["objects"]
    require(dict(own) == dict(wanted), "callgrind: what the classes cost")
    require(totals == [sum(cost[i] for cost in wanted.values()) for i in range(2)], f"callgrind: {totals}")
    for key, cost in lines.items():
        require(calls[key] == cost, f"callgrind: {key}: {calls[key]}, not {cost}")
    if shutil.which("callgrind_annotate"):
        result = session.run(["callgrind_annotate", "--auto=no", "--show-percs=no", str(path)])
        found = re.search(rb"^([\d,]+) +([\d,]+) +PROGRAM TOTALS$", result.stdout, re.MULTILINE)
        require(result.returncode == 0 and found and
                [int(number.replace(b",", b"")) for number in found.groups()] == totals,
                "callgrind_annotate: " + shown(result.stdout + result.stderr))


# ---- DHAT ----

def check_dhat(session, rows):
    path = export(session, "run.dhat.json")
    document = json.loads(path.read_text())
    stats = json.loads(session.step("stats", "run.step", "--json"))["objects"]
    moment = rows["moment"]
    points = document["pps"]
    total = {key: sum(point[key] for point in points) for key in ("tb", "tbk", "gb", "gbk", "eb", "ebk")}
    require((total["gbk"], total["gb"]) == (moment["live_objects"], moment["live_bytes"]),
            f"dhat: at the peak {total}")
    require((total["tbk"], total["tb"]) == (stats["allocated_objects"] + stats["existing_objects"],
                                             stats["allocated_bytes"] + stats["existing_bytes"]),
            f"dhat: in all {total}")
    require((total["ebk"], total["eb"]) == (stats["live_objects"], stats["live_bytes"]),
            f"dhat: at the end {total}")
    for point in points:
        require(max(point["gb"], point["eb"]) <= point["mb"] <= point["tb"], f"dhat: {point}")
    frames, found = document["ftbl"], collections.Counter()
    for point in points:
        found[tuple(frames[frame] for frame in point["fs"])] += point["gb"]
    wanted = collections.Counter()
    for row in rows["rows"]:
        wanted[(row["class"], *row["site"])] += row["bytes"]
    require(+found == +wanted, "dhat: the points")
    check_dhat_page(session, path, total)


def check_dhat_page(session, path, total):
    """The viewer that comes with Valgrind shows our sums, without a word on the console."""
    folder = pathlib.Path("/usr/libexec/valgrind")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not (folder / "dh_view.html").exists() or not chromium:
        print("without DHAT's page: no valgrind or no chromium")
        return
    place = pathlib.Path(session.path("dhat"))
    place.mkdir()
    for name in ("dh_view.css", "dh_view.js"):
        shutil.copy(folder / name, place)
    (place / "run.js").write_text("const TEXT = " + json.dumps(path.read_text()) + ";\n")
    page = (folder / "dh_view.html").read_text()
    (place / "page.html").write_text(page.replace("</body>", PROBE + "</body>"))
    result = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                             f"--user-data-dir={place}/profile", "--virtual-time-budget=20000", "--dump-dom",
                             f"file://{place}/page.html"], capture_output=True, timeout=120, check=False)
    console = [line for line in result.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    require(len(console) == 1 and "the probe has ended" in console[0], f"DHAT's page: {console[:3]}")
    text = re.sub(r"<[^>]*>", "", result.stdout.decode(errors="replace"))
    for key, head in (("tb", "Total"), ("gb", "At t-gmax"), ("eb", "At t-end")):
        require(re.search(rf"{head}: +{total[key]:,} bytes", text), f"DHAT's page: no {head} of {total[key]:,}")


# ---- Massif ----

def check_massif(session, rows):
    path = export(session, "run.massif")
    moment = rows["moment"]
    lines = path.read_text().splitlines()
    at = lines.index("heap_tree=peak")
    require(lines[at - 3] == f"mem_heap_B={moment['live_bytes']}", f"massif: {lines[at - 3]}")
    by_class = collections.Counter()
    for row in rows["rows"]:
        by_class[row["class"]] += row["bytes"]
    below = [line for line in lines[at + 2:lines.index("#-----------", at)] if re.match(" n", line)]
    require(sum(int(line.split()[1]) for line in below) == moment["live_bytes"], "massif: the classes' sum")
    name, count = by_class.most_common(1)[0]
    require(below[0].split()[1:] == [str(count), name], f"massif: {below[0]}")
    if shutil.which("ms_print"):
        result = session.run(["ms_print", str(path)])
        require(result.returncode == 0 and b"(peak)" in result.stdout and
                f"({moment['live_bytes']:,}B)".encode() in result.stdout,
                "ms_print: " + shown(result.stdout[-2000:] + result.stderr))
