/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the page of a comparison. */
const before = data.runs.filter((run) => !run.is_after), after = data.runs.filter((run) => run.is_after);
const signed = (show) => (value) => value === null ? show(value) : (value > 0 ? "+" : value < 0 ? "\u2212" : "") + show(Math.abs(value));
const METRICS = new Map(data.metrics.map(([key, title, unit]) => [key, {title, unit}]));
/* A mean of nothing is no value. */
const orNone = (show) => (value) => value === null ? "\u2013" : show(value);
const unitOf = (key) => orNone(UNITS[METRICS.get(key).unit]);
const TITLES = {allocated: "Allocated", allocated_objects: "Objects allocated", freed: "Freed", freed_objects: "Objects freed",
  alive_at_peak: "Alive at the peak", alive_at_peak_objects: "Objects at the peak", alive_at_end: "Alive at the end",
  alive_at_end_objects: "Objects at the end", lifetime: "Mean lifetime", calls: "Calls", exceptions: "Exits by exception",
  own_time: "Own time", time: "With callees", collections: "Collections", duration: "Duration"};
const titleOf = (key) => TITLES[key] || METRICS.get(key).title;
const part = (value) => value.change === null ? "" : value.before > 0 ? signed((x) => three(x) + " %")(100 * value.change / value.before) : value.change > 0 ? "new" : "";
const NOTHING = {before: 0, after: 0, change: 0};

function names(runs) {
  return runs.map((run) => run.trace.replace(/^.*\//, "")).join(", ");
}

function showSummary() {
  byId("title").textContent = names(before) + " \u2192 " + names(after);
  document.title = byId("title").textContent + " \u2013 StepTrace";
  const programs = [...new Set(data.runs.map((run) => run.program).filter((text) => text !== ""))];
  if (programs.length > 0)
    byId("subtitle").after(element("details", {class: "command"}, element("summary", {}, programs.length > 1 ? "Command lines" : "Command line"), programs.map((text) => element("p", {}, element("code", {}, text)))));
  const spread = (value, side, show) => value[side + "_least"] === undefined ? "" : " (" + show(value[side + "_least"]) + " to " + show(value[side + "_most"]) + ")";
  byId("totals").append(element("table", {}, data.runs.length > 2 ? element("caption", {}, "Medians of several runs, with minimum and maximum.") : "",
    element("thead", {}, element("tr", {}, ["", "Before", "After", "Change", "%"].map((text) => element("th", {scope: "col"}, element("span", {class: "title"}, text))))),
    element("tbody", {}, Object.entries(data.program).map(([key, value]) => element("tr", {}, element("th", {scope: "row"}, titleOf(key)),
      element("td", {}, unitOf(key)(value.before) + spread(value, "before", unitOf(key))), element("td", {}, unitOf(key)(value.after) + spread(value, "after", unitOf(key))),
      element("td", {}, signed(unitOf(key))(value.change)), element("td", {}, part(value)))))));
}

/* One chart per side, one above the other, with the same axes. */
function heapCharts() {
  byId("heaps").replaceChildren();
  const longest = Math.max(1, ...data.runs.map((run) => run.last_ns - run.first_ns));
  const top = Math.max(1, ...data.runs.flatMap((run) => run.most));
  if (top === 1) return explain("heaps", "The traces have no sizes.");
  for (const [title, runs] of [["Before", before], ["After", after]]) {
    const HEIGHT = 210, BOTTOM = 26, TOP = 18;
    const x = (ns) => LEFT + (WIDTH - LEFT - RIGHT) * Math.min(1, ns / longest);
    const y = (v) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v / top;
    const most = Math.max(0, ...runs.flatMap((run) => run.most));
    const picture = svg("svg", {viewBox: "0 0 " + WIDTH + " " + HEIGHT, role: "img", "aria-label":
      title + ": live bytes over time, up to " + bytes(most) + ", for " + time(Math.max(...runs.map((run) => run.last_ns - run.first_ns)))});
    for (const v of marks(top, 3, 1024))
      picture.append(svg("line", {class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(v), y2: y(v)}), svg("text", {x: LEFT - 6, y: y(v) + 4, "text-anchor": "end"}, bytes(v)));
    for (const ns of marks(longest, timeMarks(), 10))
      picture.append(svg("text", {x: x(ns), y: HEIGHT - 8, "text-anchor": ns === 0 ? "start" : x(ns) > WIDTH - 40 ? "end" : "middle"}, time(ns)));
    runs.forEach((run, i) => {
      const points = run.live.map((v, k) => x(Math.min((k + 1) * run.step_ns, run.last_ns) - Math.min(run.first_ns, run.last_ns)).toFixed(1) + "," + y(v).toFixed(1));
      picture.append(svg("polyline", {points: points.join(" "), style: "fill:none;stroke-width:1.5;stroke:" + (title === "Before" ? "var(--c0)" : "var(--c1)") + (i > 0 ? ";opacity:.5" : "")}, svg("title", {}, run.trace)));
    });
    picture.append(svg("text", {x: LEFT, y: 12}, title + ": " + names(runs)));
    byId("heaps").append(picture);
  }
}

/* Red for an increase, blue for a decrease, deeper for a larger share. */
function differenceColor(node, one) {
  const now = one.is_after ? node.sum : node.other, then = one.is_after ? node.other : node.sum;
  const moved = (now - then) / Math.max(now, then, 1);
  return "hsl(" + (moved >= 0 ? 8 : 212) + " " + (15 + 75 * Math.abs(moved)).toFixed(0) + "% " + (88 - 26 * Math.abs(moved)).toFixed(0) + "%)";
}

function showFlame() {
  const measures = {};
  for (const key of ["allocated", "allocated_objects", "alive_at_peak", "alive_at_peak_objects", "alive_at_end"])
    for (const is_after of [true, false]) {
      const show = unitOf(key);
      measures[key + is_after] = {title: titleOf(key) + (is_after ? ", after" : ", before"), show, is_after, column: key + (is_after ? "_after" : "_before"),
        beside: key + (is_after ? "_before" : "_after"),
        tell: (mine, other) => (is_after ? "before " : "after ") + show(other) + ", change " + signed(show)(is_after ? mine - other : other - mine)};
    }
  flameGraph({measures, first: "allocatedtrue", color: differenceColor,
    hint: "A box is a frame. Its width is the amount on the chosen side. Red: more after than before; blue: less."});
}

function showTable(id, key, title, rows, metric, others) {
  if (rows.length === 0) return explain(id, "No change, or not recorded.");
  const column = (name, side, title_, first) => ({title: title_, of: (row) => (row[name] || NOTHING)[side], show: side === "change" ? signed(unitOf(name)) : unitOf(name), first});
  sortableTable(id, title + "; largest change first. Columns with a sign are changes.", [
    {title, of: (row) => key === "class" ? javaName(row[key]) : key === "method" ? methodName(row[key]) : row[key], text: true},
    {title: "Change: " + titleOf(metric).toLowerCase(), of: (row) => Math.abs((row[metric] || NOTHING).change), show: (value, row) => signed(unitOf(metric))((row[metric] || NOTHING).change), first: true},
    column(metric, "before", "Before"), column(metric, "after", "After"),
    ...others.map((name) => column(name, "change", titleOf(name)))], rows);
}

showSummary();
heapCharts();
followRoom(heapCharts);
showFlame();
const sized = data.program.allocated !== undefined;
showTable("class-table", "class", "Class", data.classes, sized ? "allocated" : "allocated_objects", ["allocated_objects", "alive_at_peak", "alive_at_end", "lifetime"]);
showTable("thread-table", "thread", "Thread", data.threads, sized ? "allocated" : data.program.calls ? "calls" : "allocated_objects", ["allocated_objects", "alive_at_end", "calls"]);
showTable("method-table", "method", "Method", data.methods, "own_time", ["calls", "time", "exceptions"]);
byId("sections").append(...[...document.querySelectorAll("main > section")].map((section) =>
  element("li", {}, element("a", {href: "#" + section.id}, section.querySelector("h2").textContent))));
