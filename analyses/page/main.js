/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the report page. */
const summary = data.summary;

function figure(title, value, more) {
  return element("div", {}, element("dt", {}, title), element("dd", {}, value, more ? element("small", {}, more) : ""));
}

function showSummary() {
  byId("title").textContent = data.title;
  document.title = data.title + " \u2013 StepTrace";
  const command = data.properties.find((pair) => pair[0] === "command-line");
  byId("subtitle").append(count(summary.events) + " events in " + time(summary.last_ns - summary.first_ns) +
    (summary.running_ns < summary.last_ns - summary.first_ns ? ", of which a snapshot of references took " + time(summary.last_ns - summary.first_ns - summary.running_ns) : "") +
    (data.clock ? "" : "; the trace has no clock: a step ends with each collection"));
  if (command) byId("subtitle").after(element("details", {class: "command"}, element("summary", {}, "Command line"), element("code", {}, command[1])));
  showFindings();
  const objects = !hasObjects ? [] : [
    figure("allocated", bytes(summary.allocated_bytes), count(summary.allocated_objects) + " objects"),
    ...(summary.existing_objects > 0 ? [figure("existing", bytes(summary.existing_bytes), count(summary.existing_objects) + " objects, from before the recording")] : []),
    figure("freed", bytes(summary.freed_bytes), count(summary.freed_objects) + " objects in " + count(summary.collections) + " collections"),
    figure("peak", bytes(summary.peak_bytes), count(summary.peak_objects) + " objects, at " + time(summary.peak_ns)),
    figure("alive at the end", bytes(summary.live_bytes), count(summary.live_objects) + " objects"),
    ...(data.clock ? [figure("allocation rate", bytes(summary.allocated_bytes / Math.max(1e-9, summary.running_ns / 1e9)) + "/s")] : [])];
  byId("figures").append(...objects, figure("threads", count(summary.threads), count(summary.classes) + " classes"),
    ...(summary.calls > 0 ? [figure("calls", count(summary.calls))] : []));
  byId("properties").append(...data.properties.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)]));
}

/* The section with the numbers of each kind of finding. */
const FINDING_SECTIONS = {allocates: "sites", grows: "leaks", dies: "advice", heap: "collectors", lacks: "about"};

/* The sentences, each with a link to what it is about.  One sentence has the first gap only. */
function showFindings() {
  const sentence = (finding) => {
    const [, head, rest] = /^([^:]*:)(.*)$/s.exec(finding.text);
    return element("li", {class: finding.kind === "lacks" ? "lacks" : null}, element("a", {href: "#" + FINDING_SECTIONS[finding.kind], onclick: () => { byId("about").open = finding.kind === "lacks"; }}, head), breakable(rest));
  };
  if (data.findings.length > 0) byId("figures").before(element("ul", {class: "findings", "aria-label": "Findings"}, data.findings.map(sentence)));
  byId("properties").before(...data.gaps.map((gap) => element("p", {class: "note"}, gap)));
}

function showClasses(sums, words, end) {
  if (data.classes.length === 0) return explain("class-table", "The trace has no objects.");
  const place = (key) => 3 + data.class_columns.findIndex((head) => head[0] === key);
  const [allocated, allocatedSize] = [place("allocated_objects"), place("allocated_bytes")];
  const inRange = (row, i) => { const [objects, size, alive, aliveSize] = sums.classes[i]; return Object.assign([...row], {1: alive, 2: aliveSize, [allocated]: objects, [allocatedSize]: size}); };
  const rows = sums ? data.classes.map(inRange).filter((row) => row[allocated] > 0 || row[1] > 0) : data.classes;
  const [size, objects, ...others] = columnsOf(data.class_columns, ["allocated_bytes", "allocated_objects", "live_bytes", "live_objects"], (row, i) => row[3 + i]);
  const when = sums ? " at " + end : at;
  sortableTable("class-table", sums ? "Allocated from " + words + " and alive at its end, by class" : "By class; " + count(data.classes.length) + (data.classes_left > 0 ? " of " + count(data.classes.length + data.classes_left) : "") + " classes", [
    {title: "Class", of: (row) => javaName(row[0]), text: true},
    {...size, first: true}, objects,
    {title: "Alive" + when, of: (row) => row[2], show: bytes},
    {title: "Objects" + when, of: (row) => row[1], show: count},
    ...others], rows);
}

function showSites(sums, words, end) {
  if (data.places.length === 0)
    return noStacks("site-table");
  const inRange = (row) => [row[0], row[1], ...(sums.places.get(row[0] + " " + row[1]) || [0, 0, 0, 0])];
  const rows = sums ? data.places.map(inRange).filter((row) => row[2] > 0 || row[4] > 0) : data.places;
  const when = sums ? " at " + end : at;
  sortableTable("site-table", sums ? "Allocated from " + words + " and alive at its end, by allocating line and class" : "By allocating line and class; the largest by live and by allocated bytes", [
    {title: "Site", of: (row) => siteName(data.sites.names[row[0]]), text: true, open: (row) => callersOf(row[0], sums)},
    {title: "Class", of: (row) => javaName(row[1]), text: true},
    {title: "Allocated", of: (row) => row[3], show: bytes, first: Boolean(sums)},
    {title: "Objects", of: (row) => row[2], show: count},
    {title: "Alive" + when, of: (row) => row[5], show: bytes, first: !sums},
    {title: "Objects" + when, of: (row) => row[4], show: count},
  ], rows);
}

function showLeaks() {
  const leaks = data.leaks;
  if (leaks === null)
    return explain("leak-table", "This page shows a part of the trace only, and leaks need the whole trace. steptrace leaks accepts the same selection options.");
  byId("leaks-hint").textContent = "Objects that survived at least " + leaks.least_survived + " of " + count(leaks.collections) + " collections and were alive at the end: "
    + bytes(leaks.survived[1]) + " in " + count(leaks.survived[0]) + " objects. Growth: slope of a line fitted to the live bytes after the last half of the collections. Fit: its R\u00b2. "
    + "steptrace leaks prints the same rows.";
  if (leaks.rows.length === 0) return explain("leak-table", "No object survived so many collections and was alive at the end.");
  const frames = (row) => row[5].map((i) => siteName(leaks.frames[i]));
  sortableTable("leak-table", "Objects that survived, by " + (leaks.by_site ? "call site" : "class") + (leaks.left > 0 ? "; the first " + leaks.rows.length + " of " + count(leaks.rows.length + leaks.left) : ""), [
    leaks.by_site ? {title: "Site", of: (row) => frames(row).slice(0, 4).join(" \u2190 ") || "(no stack)", text: true, opens: (row) => row[5].length > 0, open: (row) => element("ol", {class: "stack"}, frames(row).map(frameItem))}
      : {title: "Class", of: (row) => javaName(row[6]), text: true},
    {title: "Bytes", of: (row) => row[1], show: bytes},
    {title: "Objects", of: (row) => row[0], show: count},
    {title: "Growth per collection", of: (row) => row[3], show: (value) => leaks.after.length < 3 ? "-" : (value < 0 ? "\u2212" : "+") + bytes(Math.abs(value))},
    {title: "Fit", of: (row) => row[4], show: (value) => leaks.after.length < 3 ? "-" : value.toFixed(2)},
    {title: "Mean age", of: (row) => row[2], show: time},
    {title: "After collections", of: (row) => row[7], show: curve, fixed: true},
  ], leaks.rows);
}

/* Draws live amounts after collections, the first at the left.  The width does not depend on their
 * number. */
function curve(values) {
  const most = Math.max(1, ...values), last = Math.max(1, values.length - 1);
  return svg("svg", {class: "curve", viewBox: "0 0 100 20", width: 100, height: 20, role: "img", "aria-label": "from " + bytes(values[0] || 0) + " to " + bytes(values[values.length - 1] || 0)},
    svg("polyline", {points: values.map((v, i) => (100 * i / last).toFixed(1) + "," + (19 - 18 * v / most).toFixed(1)).join(" ")}));
}

/* What each advice means, of a row's objects. */
const ADVICE = {
  pretenure: "survived two collections or more",
  reuse: "died before the next eight allocations of the site",
  duplicate: "were allocated after the thread's previous one of the same size had died",
  scalar: "were never stored",
  presize: "were given longer arrays",
};

function showAdvice() {
  const advice = data.advice;
  if (advice === null)
    return explain("advice-table", "This page shows a part of the trace only, or the trace has no sizes: advice needs the whole trace, with sizes.");
  const unknown = [advice.has_references ? "" : "scalar and presize, as the trace has no stores of references (events=reference)",
    advice.has_deaths ? "" : "reuse and duplicate, as it has no deaths", advice.collections < 2 ? "pretenure, as there were " + advice.collections + " collections" : ""].filter((text) => text !== "");
  byId("advice-hint").textContent = "steptrace advise prints the same rows." + (unknown.length > 0 ? " Unknown: " + unknown.join("; ") + "." : "");
  if (advice.rows.length === 0) return explain("advice-table", "No advice.");
  const site = (row) => javaName(row[5]) + (row[6] === "" ? "" : " at " + row[6].split(" <- ").map(siteName).join(" \u2190 "));
  sortableTable("advice-table", "Advice on allocation sites" + (advice.left > 0 ? "; the first " + advice.rows.length + " of " + count(advice.rows.length + advice.left) : ""), [
    {title: "Site", of: site, text: true},
    {title: "At stake", of: (row) => row[1], show: bytes, first: true},
    {title: "Advice", of: (row) => row[0], text: true},
    {title: "Evidence", of: (row) => row[2], show: (value, row) => count(value) + " of " + count(row[3]) + " objects " + ADVICE[row[0]] + (row[4] ? " (an estimate)" : "")},
  ], advice.rows);
}

function showRetained() {
  const kept = data.retained;
  if (kept === null)
    return explain("retained-site-table", "This trace has no references at that moment. record --report takes a snapshot of them at the end, as -O snapshot=end does; for any other moment record events=class+alloc+free+thread+reference.");
  byId("retained-hint").textContent = "Retained size: the memory freed together with an object, at " + time(kept.time_ns) + (kept.is_snapshot ? " (a snapshot)" : "") + "; for a line or class, the sum over those of its objects that no other of them dominates. "
    + count(kept.objects) + " objects, " + bytes(kept.bytes) + ", are reached from roots" + (kept.unreached_objects > 0 ? "; " + count(kept.unreached_objects) + ", " + bytes(kept.unreached_bytes) + ", are not." : ".")
    + (kept.is_snapshot || data.deaths.dated ? "" : " They may include objects that are dead but not collected yet, as if a frame held them; a trace written by steptrace deaths does not.");
  const table = (place, title, name, caption, rows) => sortableTable(place, caption, [
    {title, of: (row) => name(row[0]), text: true},
    {title: "Retained", of: (row) => row[3], show: bytes, first: true},
    {title: "Own", of: (row) => row[2], show: bytes},
    {title: "Objects", of: (row) => row[1], show: count},
  ], rows);
  if (kept.sites.length === 0)
    noStacks("retained-site-table");
  else
    table("retained-site-table", "Site", (name) => name.split(" <- ").map(siteName).join(" \u2190 "), "Retained size by allocating line, innermost frame first", kept.sites);
  table("retained-class-table", "Class", javaName, "Retained size by class", kept.classes);
}

function showLifetimes() {
  const deaths = data.deaths;
  byId("lifetimes-hint").textContent = "For freed objects: the time from allocation to " + (deaths.dated
    ? "the moment at which they became unreachable (" + count(deaths.exact) + " exactly, " + count(deaths.bound) + " at least; of " + count(deaths.by_collection + deaths.by_free) + " only the collection is known)."
    : "the collection that found them dead.");
}

function showCollectors() {
  const kept = data.collectors;
  if (kept === null)
    return explain("collector-table", "Not simulated: this page shows a part of the trace only, the trace has no allocations with sizes, or a young generation of 1 MiB never fills.");
  const last = kept.rows.filter((row) => row[1] > 0).pop(), first = kept.rows[0], about = kept.is_exact ? "" : "about ";
  byId("collectors-hint").textContent = "Bytes that the Serial collector would copy and promote for each size of the young generation (-Xmn), simulated. "
    + (first[3] > 0 ? "A young generation of " + bytes(last[0]) + " promotes " + (last[3] > 0 ? about + share(last[3], first[3]) : "none") + " of what one of " + bytes(first[0]) + " does. " : "")
    + (kept.is_delayed ? "Estimates: collections of the traced run found the deaths, later than the objects died. " : kept.is_exact ? "" : "Estimates: not all deaths are exact. ")
    + "At most " + bytes(kept.minimum) + " were live at one time.";
  sortableTable("collector-table", "By size of the young generation", [
    {title: "Young generation", of: (row) => bytes(row[0]), text: true},
    {title: "Collections", of: (row) => row[1], show: count},
    {title: "Copied", of: (row) => row[2], show: bytes},
    {title: "Promoted", of: (row) => row[3], show: bytes},
  ], kept.rows);
}

function showThreads() {
  const [size, ...others] = columnsOf(data.thread_columns, ["allocated_bytes"], (row, i, key) => row[key]);
  sortableTable("thread-table", "By thread; " + count(data.threads.length) + (data.threads_left > 0 ? " of " + count(data.threads.length + data.threads_left) : "") + " threads", [
    {title: "Thread", of: (row) => row.number + " " + row.name, text: true},
    {...size, first: true}, ...others], data.threads);
}

function showMethods() {
  if (data.methods.length === 0)
    return explain("method-table", "The trace has no calls. Record it with events=class+thread+method to see them.");
  const heads = data.method_columns.filter((head) => data.clock || head[2] !== "time");
  const [most, ...others] = columnsOf(heads, ["exclusive_ns", "inclusive_ns"], (row, i, key) => row[1 + data.method_columns.findIndex((head) => head[0] === key)]);
  sortableTable("method-table", "By method; " + count(data.methods.length) + (data.methods_left > 0 ? " of " + count(data.methods.length + data.methods_left) : "") + " methods", [
    {title: "Method", of: (row) => methodName(row[0]), text: true},
    {...most, first: true}, ...others], data.methods);
}

const at = " at " + data.moment.label;
const MEASURES = {
  moment_bytes: {title: "bytes alive" + at, column: "live_bytes", show: bytes},
  moment_objects: {title: "objects alive" + at, column: "live_objects", show: count},
  allocated_bytes: {title: "bytes allocated", column: "allocated_bytes", show: bytes},
  allocated_objects: {title: "objects allocated", column: "allocated_objects", show: count},
};

function showFlame() {
  if (!hasObjects) return explain("flame-graph", "The trace has no objects.");
  return flameGraph({measures: MEASURES, first: data.moment.live_bytes > 0 ? "moment_bytes" : "allocated_bytes",
    hint: "A box is a frame. Its width is the chosen measure of the objects allocated in it and in the frames that it called.", color: (node) => flameColor(node.name)});
}

function drawCharts() {
  liveChart();
  phaseChart();
  brush((sums, words, end) => {
    if (flame) flame(sums && {sites: sums.sites, words, end});
    showClasses(sums, words, end);
    showSites(sums, words, end);
  });
  lifetimeChart();
  threadChart();
  callTimeline();
}

showSummary();
const flame = showFlame();
showClasses();
showSites();
showLeaks();
showAdvice();
showRetained();
showLifetimes();
showCollectors();
showThreads();
showMethods();
drawCharts();
followRoom(drawCharts);
byId("sections").append(...[...document.querySelectorAll("main > section")].map((section) =>
  element("li", {}, element("a", {href: "#" + section.id}, section.querySelector("h2").textContent))));
