#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a program, makes its report, compares the page's data with what stats and heap say, and
works the page in headless Chromium: tables sort and search, the flame graph zooms by keyboard."""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys

# Appended to a copy of the page: uses it as a person would, and writes down what it saw.
PROBE = r"""
<script>
(() => {
  const seen = {};
  const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  const rows = (id) => [...document.querySelectorAll("#" + id + " tbody tr")].map((row) => row.firstChild.textContent);
  const type = (id, text) => {
    const input = document.querySelector("#" + id + " input[type=search]");
    input.value = text;
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  seen.title = document.title;
  seen.sections = document.querySelectorAll("#sections a").length;
  seen.classes = rows("class-table").length;
  seen.largest = rows("class-table")[0];
  document.querySelector("#class-table thead button").click();
  seen.sorted = document.querySelector("#class-table th[aria-sort]").getAttribute("aria-sort");
  seen.names = rows("class-table").slice(0, 50);
  type("class-table", "byte[]");
  seen.found = rows("class-table");
  const tree = document.querySelector("#flame-graph [role=tree]");
  seen.boxes = tree.children.length;
  seen.cutStacks = [...tree.children].filter((box) => box.node.isCut).map((box) => [box.node.name, box.node.children.map((child) => child.name)]);
  seen.cutHint = document.querySelector("#flame-graph [role=status]").textContent;
  seen.boxLabels = [...tree.children].map((box) => [box.textContent, box.node.name]);
  key(tree.querySelector('li[tabindex="0"]'), "ArrowDown");
  seen.focused = document.activeElement.node.name;
  key(document.activeElement, "Enter");
  seen.zoomed = document.querySelector("#flame-graph [role=status]").textContent;
  key(document.activeElement, "Escape");
  seen.back = document.querySelector("#flame-graph [role=status]").textContent;
  type("flame-graph", "reportsites.chunk");
  seen.search = document.querySelector("#flame-graph [role=status]").textContent;
  seen.marked = tree.querySelectorAll(".found").length;
  const chart = document.querySelector("#live-chart svg");
  key(chart, "ArrowLeft");
  seen.tip = document.getElementById("tip").textContent;
  seen.threads = rows("thread-table");
  type("flame-graph", "");
  type("class-table", "");
  const [from, to] = document.querySelectorAll("#range input");
  from.value = 1;
  from.dispatchEvent(new Event("input", {bubbles: true}));
  seen.range = document.querySelector("#range [role=status]").textContent;
  seen.rangeAll = document.querySelector("#flame-graph [role=status]").textContent;
  seen.rangeText = from.getAttribute("aria-valuetext");
  seen.rangeClasses = document.querySelector("#class-table caption").textContent;
  const measure = document.querySelector("#flame-graph select");
  measure.value = "range_live_bytes";
  measure.dispatchEvent(new Event("change", {bubbles: true}));
  seen.rangeLive = document.querySelector("#flame-graph [role=status]").textContent;
  key(chart, "Escape");
  seen.rangeGone = document.querySelector("#range [role=status]").textContent;
  seen.classesAgain = document.querySelector("#class-table caption").textContent;
  const box = chart.getBoundingClientRect();
  const drag = (name, x) => chart.dispatchEvent(new PointerEvent(name, {bubbles: true, clientX: box.left + box.width * x, clientY: box.top + 50, button: 0}));
  chart.setPointerCapture = () => {};
  drag("pointerdown", .3);
  drag("pointermove", .7);
  drag("pointerup", .7);
  seen.dragged = document.querySelector("#range [role=status]").textContent;
  seen.wide = document.documentElement.scrollWidth <= innerWidth;
  const boxes = [...document.querySelectorAll(".scroll, .flame")];
  seen.scrolls = boxes.filter((box) => box.scrollHeight > box.clientHeight + 1).length;
  seen.hidden = boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute("aria-label"));
  seen.order = [...document.querySelectorAll("main > section")].map((section) => section.id);
  seen.findings = [...document.querySelectorAll(".findings li")].map((item) => [item.textContent, item.querySelector("a").hash]);
  const region = document.querySelector("#retained-site-table [role=region]");
  seen.kept = {sites: rows("retained-site-table"), label: region.getAttribute("aria-label"), tab: region.tabIndex,
    hint: document.getElementById("retained-hint").textContent, deaths: document.getElementById("lifetimes-hint").textContent};
  seen.collectors = {rows: rows("collector-table"), hint: document.getElementById("collectors-hint").textContent};
  type("retained-class-table", "java.util.arraylist");
  seen.kept.classes = rows("retained-class-table");
  /* Where a line of a name ends, its text has a place for it. */
  const broken = (cell) => {
    const range = document.createRange(), walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()) !== null;) {
      range.selectNodeContents(node);
      const word = /\w+/g;
      for (let found; (found = word.exec(node.data)) !== null;) {
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) return true;
      }
    }
    return false;
  };
  seen.broken = [...document.querySelectorAll("tbody th.name")].filter(broken).map((cell) => cell.textContent);
  seen.labels = [...document.querySelectorAll("svg[role=img]")].every((one) => one.getAttribute("aria-label"));
  key(chart, "Escape");
  const bars = [...document.querySelectorAll("#lifetime-chart rect")].map((bar) => Number(bar.getAttribute("width")));
  seen.bars = {all: bars.length, wide: bars.filter((width) => width > 0).length};
  seen.labels_of_threads = [...document.querySelectorAll("#thread-chart text")].map((text) => text.firstChild.textContent).filter((text) => text.startsWith("http"));
  seen.marks = ["live", "thread"].map((name) => document.querySelectorAll("#" + name + "-chart .collected line").length);
  type("site-table", "reportsites.chunk");
  document.querySelector("#site-table button.open").click();
  seen.stacks = [...document.querySelectorAll("#site-table .stack")].map((list) => [...list.children].map((frame) => frame.textContent));
  seen.links = [...document.querySelectorAll("#site-table .stack a")].map((link) => link.href);
  document.querySelector("#site-table button.open").click();
  seen.closed = document.querySelectorAll("#site-table .opened").length;
  seen.leaks = rows("leak-table");
  document.querySelector("#leak-table button.open").click();
  seen.leak = [...document.querySelector("#leak-table .stack").children].map((frame) => frame.textContent);
  seen.advice = rows("advice-table").length;
  seen.curves = document.querySelectorAll("#leak-table .curve polyline").length;
  seen.command = [document.querySelector(".command").open, document.querySelector(".command code").textContent];
  const cut = [...tree.children].filter((box) => box.textContent.startsWith("\u2026"));
  seen.cut = cut.every((box) => box.node.name.includes("(") ? !box.textContent.includes(")") : box.node.name.endsWith(box.textContent.slice(1)));
  TELL
})();
</script>
"""

# At the end of each probe: what it saw, and a word on the console, which proves that the console is read.
TELL = """
  const told = document.createElement("pre");
  told.id = "seen";
  told.textContent = JSON.stringify(seen);
  document.body.append(told);
  console.warn("the probe has ended");
"""

# At the width of a phone, in a frame, since Chromium makes no window so narrow: text keeps its size, and stays inside.
PHONE = """<!DOCTYPE html>
<iframe width="390" height="1500" style="border: 0" srcdoc="PAGE"></iframe>
<script>
onmessage = (event) => { const seen = event.data; TELL };
</script>
"""
PHONE_PROBE = r"""
<script>
(() => {
  const pictures = [...document.querySelectorAll(".chart svg")];
  const seen = {width: innerWidth, wide: document.documentElement.scrollWidth <= innerWidth,
    sizes: pictures.map((one) => parseFloat(getComputedStyle(one.querySelector("text")).fontSize) * one.getBoundingClientRect().width / one.viewBox.baseVal.width),
    outside: pictures.flatMap((one) => [...one.querySelectorAll("text")].filter((text) => { const box = text.getBoundingClientRect(); return box.left < -1 || box.right > innerWidth + 1; }).map((text) => text.textContent))};
  parent.postMessage(seen, "*");
})();
</script>
"""

faults = []


def expect(what, actual, wanted):
    if actual != wanted:
        faults.append(f"{what}: {actual!r}, not {wanted!r}")


def expect_that(what, holds, actual):
    if not holds:
        faults.append(f"{what}: {actual!r}")


def record(options):
    javac = os.path.join(os.path.dirname(os.path.realpath(options.java)), "javac")
    subprocess.run([javac, "-d", ".", options.source], check=True)
    subprocess.run([options.java, "-Xmx64m", "-XX:+UseSerialGC",
                    f"-agentpath:{options.agent}=file=run.step,overwrite=yes,finish=10min,stack=16,"
                    "events=class+alloc+free+thread+reference",
                    "-cp", ".", "ReportSites"], check=True)
    subprocess.run([options.steptrace, "report", "run.step", "-o", "page.html",
                    "--source-url=https://example.org/src/{path}#L{line}"], check=True)
    for wrong in "javascript:alert({path})", "https://example.org/":
        refused = subprocess.run([options.steptrace, "report", "run.step", "-o", "no.html", f"--source-url={wrong}"],
                                 check=False, capture_output=True)
        expect(f"exit code of --source-url={wrong}", refused.returncode, 2)


def steptrace_json(options, *arguments):
    printed = subprocess.run([options.steptrace, *arguments], check=True, stdout=subprocess.PIPE)
    return json.loads(printed.stdout)


def compare(options, page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    data = json.loads(found.group(1))
    stats = steptrace_json(options, "stats", "--json", "--top=0", "run.step")
    for key in ("allocated_objects", "allocated_bytes", "freed_objects", "freed_bytes"):
        expect(key, data["summary"][key], stats["objects"][key])
    sites = data["sites"]
    moment = data["moment"]
    expect("bytes at the peak", moment["live_bytes"], data["summary"]["peak_bytes"])
    expect("sum of live bytes over sites", sum(sites["live_bytes"]), moment["live_bytes"])
    expect("sum of live objects over sites", sum(sites["live_objects"]), moment["live_objects"])
    expect("sum of bytes over sites", sum(sites["allocated_bytes"]),
           stats["objects"]["allocated_bytes"])
    expect("sum of live bytes over classes", sum(row[2] for row in data["classes"]),
           moment["live_bytes"])
    line = data["timeline"]
    expect("highest step", max(line["most"]), data["summary"]["peak_bytes"])
    expect("last step", line["live"][-1], stats["objects"]["live_bytes"])
    bins = data["bins"]["lists"]
    expect("bytes in bins", sum(sum(one[3::6]) for one in bins), stats["objects"]["allocated_bytes"])
    expect("objects in bins", sum(sum(one[2::6]) for one in bins), stats["objects"]["allocated_objects"])
    step, start = data["bins"]["step_ns"], data["bins"]["start_ns"]
    for i in (0, len(bins) // 2):
        part = steptrace_json(options, "stats", "--json", f"--time={start + i * step}ns..{start + (i + 1) * step - 1}ns", "run.step")
        heap = steptrace_json(options, "heap", "--json", "--top=1", f"--at={start + (i + 1) * step - 1}ns", "run.step")
        living = sum(sum(one[5::6]) for one in bins[:i + 1])
        expect(f"bytes alive after bin {i}", living, heap["moment"]["live_bytes"])
        expect(f"objects of bin {i}", sum(bins[i][2::6]), part["objects"]["allocated_objects"])
    chunks = [row for row in data["places"]
              if sites["names"][row[0]].startswith("ReportSites.chunk") and row[1] == "[B"]
    expect("chunks", [row[2] for row in chunks], [1001])
    compare_collectors(options, data["collectors"])
    return data


def compare_collectors(options, collectors):
    """The page has the figures of `steptrace simulate`."""
    models = steptrace_json(options, "simulate", "--json", "--young=1m..512m", "run.step")
    rows = [[row[key] for key in ("young", "collections", "copied", "promoted")] for row in models["generations"]]
    expect("collectors", collectors["rows"], rows[:len(collectors["rows"])])
    expect_that("the last size never fills", collectors["rows"][-1][1] == 0 < collectors["rows"][0][1], rows)
    expect("the minimum", collectors["minimum"], models["minimum_heap"])
    expect("kinds of deaths", [collectors["is_exact"], collectors["is_delayed"]], [models["is_exact"], models["is_upper_bound"]])


def in_units(size):
    """As the page writes bytes."""
    unit = 0
    while size >= 1024 and unit < 3:
        size, unit = size / 1024, unit + 1
    digits = 0 if unit == 0 or size >= 100 else 1 if size >= 10 else 2
    return f"{size:.{digits}f} " + ["B", "KiB", "MiB", "GiB"][unit]


COMPARE_PROBE = r"""
<script>
(() => {
  const tree = document.querySelector("#flame-graph [role=tree]");
  const seen = {title: document.title, charts: document.querySelectorAll("#heaps svg[role=img][aria-label]").length,
    totals: document.querySelectorAll("#totals tbody tr").length, boxes: tree.children.length,
    box: tree.children[1].getAttribute("aria-label"), colors: [...tree.children].every((box) => box.style.background.startsWith("rgb")),
    classes: document.querySelectorAll("#class-table tbody tr").length, threads: document.getElementById("thread-table").textContent,
    wide: document.documentElement.scrollWidth <= innerWidth};
  TELL
})();
</script>
"""


COMPARE_PHONE_PROBE = r"""
<script>
parent.postMessage({width: innerWidth, hidden: document.getElementById("totals").scrollWidth - document.getElementById("totals").clientWidth,
  wide: document.documentElement.scrollWidth <= innerWidth}, "*");
</script>
"""


def seen_in(options, page, probe, frame="PAGE"):
    page = page.replace("</body>", probe + "</body>")
    if frame != "PAGE":
        page = frame.replace("PAGE", html.escape(page))
    with open("probe.html", "w", encoding="utf-8") as file:
        file.write(page.replace("TELL", TELL))
    command = [options.chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
               "--user-data-dir=" + os.path.abspath("profile"), "--window-size=1280,2400"]
    shown = subprocess.run(command + ["--virtual-time-budget=4000", "--dump-dom",
                                      "file://" + os.path.abspath("probe.html")],
                           check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    console = [line for line in shown.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    expect_that("the console is read", any("the probe has ended" in line for line in console), console)
    expect_that("nothing on the console", all("the probe has ended" in line for line in console), console[:3])
    found = re.search(r'<pre id="seen">(.*?)</pre>', shown.stdout.decode(), re.S)
    if found is None:
        faults.append("the page's scripts did not get to their end")
        return None
    text = found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


def browse_comparison(options):
    subprocess.run([options.steptrace, "convert", "run.step", "-o", "part.zip", "--class=!java.**"], check=True)
    subprocess.run([options.steptrace, "compare", "part.zip", "run.step", "--html", "changes.html"], check=True, stderr=subprocess.DEVNULL)
    with open("changes.html", encoding="utf-8") as file:
        page = file.read()
    expect("one end of the data", page.count("</script>"), 2)
    seen = seen_in(options, page, COMPARE_PROBE)
    if seen is None:
        return
    expect("title", seen["title"], "part.zip \u2192 run.step \u2013 StepTrace")
    expect_that("totals", seen["totals"] > 5, seen["totals"])
    expect_that("boxes", seen["boxes"] > 1 and seen["colors"], seen["boxes"])
    expect_that("a box tells of both sides", "before" in seen["box"] and "change" in seen["box"], seen["box"])
    expect_that("classes", seen["classes"] > 5, seen["classes"])
    expect("no sideways scrolling", seen["wide"], True)
    phone = seen_in(options, page, COMPARE_PHONE_PROBE, PHONE)
    if phone is not None:
        expect("the comparison's summary on a phone", phone, {"width": 390, "hidden": 0, "wide": True})


LINKS_PROBE = r"""
<script>
(() => {
  const seen = {};
  const input = document.querySelector("#site-table input[type=search]");
  input.value = "oddchunk";
  input.dispatchEvent(new Event("input", {bubbles: true}));
  document.querySelector("#site-table button.open").click();
  seen.frames = document.querySelectorAll("#site-table .stack li").length;
  seen.links = [...document.querySelectorAll("#site-table .stack a")].map((link) => link.href);
  document.body.replaceChildren(); // --dump-dom cannot print unpaired surrogates
  TELL
})();
</script>
"""


def browse_links(options, page):
    """Names that the JVM allows: an unpaired surrogate, and what replaceAll() would interpret."""
    name = "ReportSites.chunk(ReportSites.java:14)"
    expect_that("a frame of chunk()", name in page, None)
    seen = seen_in(options, page.replace(name, r"Odd\ud800$$.oddchunk(Odd\ud800$&#.java:14)"), LINKS_PROBE)
    if seen is None:
        return
    expect_that("frames of the odd site", seen["frames"] > 0, seen)
    expect_that("its link", "https://example.org/src/Odd%EF%BF%BD%24%26%23.java#L14" in seen["links"], seen["links"])


CALLS_PROBE = r"""
<script>
(() => {
  const picture = document.querySelector("#call-timeline svg");
  const press = (name) => picture.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  const look = () => ({boxes: picture.querySelectorAll("rect").length, label: picture.getAttribute("aria-label")});
  const seen = {all: look()};
  for (let i = 0; i < 6; i++) press("+");
  seen.zoomed = look();
  press("ArrowRight");
  seen.moved = look();
  document.querySelectorAll("#call-timeline button")[4].click();
  seen.again = look();
  TELL
})();
</script>
"""


def browse_calls(options):
    """A trace with method events: all of its calls are there."""
    trace = os.path.join(os.path.dirname(options.source), "../cli/data/traces/shop-1.step")
    subprocess.run([options.steptrace, "report", trace, "-o", "calls.html"], check=True)
    with open("calls.html", encoding="utf-8") as file:
        page = file.read()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    compare_leaks(options, trace, page)
    entries = steptrace_lines(options, "dump", "--kind=MN", trace)
    expect("calls", sorted(call[0] for call in data["calls"]["calls"]), sorted(int(line.split(":")[1]) for line in entries))
    seen = seen_in(options, page, CALLS_PROBE)
    if seen is None:
        return
    expect_that("calls drawn", seen["all"]["boxes"] > 5 and "calls drawn" in seen["all"]["label"], seen["all"])
    expect_that("zoom", seen["zoomed"]["label"] != seen["all"]["label"], seen["zoomed"])
    expect_that("moved", seen["moved"]["label"] != seen["zoomed"]["label"], seen["moved"])
    expect("all again", seen["again"], seen["all"])


def steptrace_lines(options, *arguments):
    return subprocess.run([options.steptrace, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def browse(options, page, data):
    compare_advice(options, "run.step", page)
    seen = seen_in(options, page, PROBE)
    if seen is None:
        return
    expect("title", seen["title"], "run.step \u2013 StepTrace")
    expect("sections", seen["sections"], 12)
    expect("class rows", seen["classes"], min(20, len(data["classes"])))
    expect("largest class", seen["largest"], "byte[]")
    expect("sorted", seen["sorted"], "ascending")
    expect("names in order", seen["names"], sorted(seen["names"]))
    expect_that("search", "byte[]" in seen["found"] and len(seen["found"]) < 10, seen["found"])
    expect_that("boxes", seen["boxes"] > 10, seen["boxes"])
    cut = [label for label, name in seen["boxLabels"] if label not in ("", name) and "(" in name]
    expect_that("labels end in method and line", all(re.search(r"(:\d+|[^)])$", label) and ")" not in label for label in cut), cut[:5])
    expect_that("no label begins within a method's name", not any(label.startswith("\u2026") for label in cut), cut[:5])
    expect("stacks that are cut are below one node", [name for name, _ in seen["cutStacks"]], ["(stack cut at 16 frames)"])
    expect_that("deep stacks are cut, and no others", any(name.startswith("ReportSites.deep(") for name in seen["cutStacks"][0][1]) and
                not any(re.match(r"ReportSites\.main|java\.lang\.Thread\.run", name) for name in seen["cutStacks"][0][1]), seen["cutStacks"])
    expect_that("the page says so", "stacks cut at 16 frames: " in seen["cutHint"], seen["cutHint"])
    expect_that("zoom", f"zoomed to {seen['focused']}" in seen["zoomed"], seen["zoomed"])
    expect_that("back", "zoomed" not in seen["back"], seen["back"])
    expect_that("found", "found: 1017 KiB" in seen["search"] and seen["marked"] > 0, seen["search"])
    expect_that("tip", "objects" in seen["tip"], seen["tip"])
    expect_that("hostile thread", any("</script>" in name for name in seen["threads"]),
                seen["threads"])
    sizes = [sum(one[3::6]) for one in data["bins"]["lists"]]
    expect_that("range", "objects allocated" in seen["range"] and " to " in seen["range"], seen["range"])
    expect_that("flame graph of the range", in_units(sum(sizes[1:])) + " in all" in seen["rangeAll"], seen["rangeAll"])
    alive = sum(sum(one[5::6]) for one in data["bins"]["lists"])
    expect_that("alive at the range's end", in_units(alive) + " in all" in seen["rangeLive"] and in_units(alive) in seen["range"],
                seen["rangeLive"] + seen["range"])
    expect_that("a slider tells its time", "s" in seen["rangeText"], seen["rangeText"])
    expect_that("classes of the range", seen["rangeClasses"].startswith("Allocated from"), seen["rangeClasses"])
    expect("no range", seen["rangeGone"], "")
    expect_that("all classes again", seen["classesAgain"].startswith("By class"), seen["classesAgain"])
    expect_that("dragged", "objects allocated" in seen["dragged"], seen["dragged"])
    expect("no sideways scrolling", seen["wide"], True)
    expect("pictures have labels", seen["labels"], True)
    kept = seen["kept"]
    expect_that("retained by site", any(name.startswith("ReportSites.chunk(ReportSites.java:") and "\u2190" in name for name in kept["sites"]), kept["sites"][:9])
    expect_that("retained by class", "java.util.ArrayList" in kept["classes"], kept["classes"])
    expect_that("its table can be reached and has a name", kept["tab"] == 0 and kept["label"].startswith("Retained size by"), kept)
    expect_that("hints", "reached from roots" in kept["hint"] and "steptrace deaths" in kept["hint"]
                and "collection that found them dead" in kept["deaths"], kept)
    expect("sizes of young generations", len(seen["collectors"]["rows"]), len(data["collectors"]["rows"]))
    expect_that("the hint of young generations", "promotes" in seen["collectors"]["hint"] or "At most" in seen["collectors"]["hint"], seen["collectors"])
    chunks = [row[1:] for row in data["retained"]["sites"] if row[0].startswith("ReportSites.chunk(ReportSites.java:14) <- ReportSites.hold(ReportSites.java:19)")]
    expect("the chunks", chunks, [[1000, 1040000, 1040000]])
    largest = max(data["retained"]["sites"], key=lambda row: row[3])
    expect_that("the array that holds them", "java/util/ArrayList.grow(" in largest[0] and largest[3] > 1040000, largest)


    expect_that("bars of lifetimes", seen["bars"]["all"] >= seen["bars"]["wide"] > 1, seen["bars"])
    expect_that("labels of threads", len(set(seen["labels_of_threads"])) == 5, seen["labels_of_threads"])
    steps = len(data["timeline"]["collections"])
    expect("marks of collections", seen["marks"], [steps, steps])
    expect_that("the callers of a site", any(stack[0].startswith("ReportSites.chunk(ReportSites.java:") and stack[1].startswith("ReportSites.hold(ReportSites.java:")
                                             and stack[2].startswith("ReportSites.main(ReportSites.java:") for stack in seen["stacks"]), seen["stacks"])
    expect_that("links to sources", "https://example.org/src/ReportSites.java#L14" in seen["links"] and
                any(link.startswith("https://example.org/src/java/lang/Thread.java#L") for link in seen["links"]), seen["links"])
    expect("a closed row", seen["closed"], 0)
    expect_that("the leak first", seen["leaks"][0].startswith("ReportSites.record(ReportSites.java:") and seen["leak"][1].startswith("ReportSites.leak(ReportSites.java:"), seen["leaks"][:3])
    expect("rows of advice on the page", seen["advice"], len(data["advice"]["rows"]))
    expect("a curve for each leak", seen["curves"], len(seen["leaks"]))
    expect_that("the command line is folded", not seen["command"][0] and "ReportSites" in seen["command"][1], seen["command"])
    expect("labels that are cut end in method and line", seen["cut"], True)
    expect("boxes that scroll within the page", seen["scrolls"], 0)
    expect("tables with columns that are hidden", seen["hidden"], [])
    expect_that("threads come before simulations", seen["order"].index("threads") < seen["order"].index("collectors"), seen["order"])
    expect("the findings and their sections", [text for text, _ in seen["findings"]], [one["text"] for one in data["findings"]])
    expect_that("links of the findings", all(hash[1:] in seen["order"] + ["about"] for _, hash in seen["findings"]), seen["findings"])
    expect("names that break inside a word", seen["broken"], [])
    phone = seen_in(options, page, PHONE_PROBE, PHONE)
    if phone is not None:
        expect_that("a phone", phone["width"] == 390 and phone["wide"], phone["width"])
        expect_that("type on a phone", phone["sizes"] and min(phone["sizes"]) >= 10, phone["sizes"])
        expect("labels within a phone", phone["outside"], [])


def compare_advice(options, trace, page):
    """The rows are those of the verb."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))["advice"]
    verb = steptrace_json(options, "advise", "--json", "--top=50", trace)
    expect_that("advice", len(verb["advice"]) > 0, verb)
    expect("collections of advice", data["collections"], verb["collections"])
    expect("rows of advice", [[*row[:6], row[6].split(" <- ")[0]] for row in data["rows"]],
           [[row["advice"], row["bytes"], row["evidence"]["objects"], row["evidence"]["site_objects"], row["is_estimate"], row["class"],
             (row["site"] or [""])[0]] for row in verb["advice"]])


def compare_leaks(options, trace, page):
    """The page has the rows of the verb."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))["leaks"]
    leaks = steptrace_json(options, "leaks", "--json", "--top=50", trace)
    expect("collections", data["collections"], leaks["collections"])
    expect("survived", data["survived"], [leaks["survived"]["objects"], leaks["survived"]["bytes"]])
    expect("rows of leaks", [row[:5] + [[data["frames"][i] for i in row[5]], row[7]] for row in data["rows"]],
           [[row["objects"], row["bytes"], row["mean_age_ns"], row["growth_bytes_per_collection"], row["fit"], row.get("site", [])[:24], row["live"]]
            for row in leaks["rows"]])
    return len(leaks["rows"])


def main():
    parser = argparse.ArgumentParser()
    for name in ("steptrace", "agent", "java", "chromium", "source", "work"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    os.chdir(options.work)
    record(options)
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    data = compare(options, page)
    expect_that("leaks", compare_leaks(options, "run.step", page) > 1, data["leaks"])
    if options.chromium == "none":
        print("chromium is not there: the page was not tried in a browser")
    else:
        browse(options, page, data)
        browse_links(options, page)
        browse_comparison(options)
        browse_calls(options)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
