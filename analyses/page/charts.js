/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the charts over time. */
const hasObjects = data.summary.allocated_objects + data.summary.existing_objects > 0;
const line = data.timeline;
const steps = line.live.length;
const stepEnd = (i) => Math.min(line.start_ns + (i + 1) * line.step_ns, data.summary.last_ns);
const span = Math.max(1, stepEnd(steps - 1) - line.start_ns);
const xOf = (ns) => LEFT + (WIDTH - LEFT - RIGHT) * Math.min(1, Math.max(0, (ns - line.start_ns) / span));
const color = (i) => i < 10 ? "var(--c" + i + ")" : "var(--rest)";

function timeAxis(y) {
  const group = svg("g", {"aria-hidden": "true"}, svg("line", {class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y}));
  for (const ns of marks(span, timeMarks(), 10)) {
    const x = xOf(line.start_ns + ns);
    const anchor = x > WIDTH - 40 ? "end" : ns === 0 ? "start" : "middle";
    group.append(svg("line", {class: "axis", x1: x, x2: x, y1: y, y2: y + 4}),
      svg("text", {x, y: y + 17, "text-anchor": anchor}, time(line.start_ns + ns)));
  }
  return group;
}

/* Draws garbage collections as lines across a chart, faint if there are many. */
function collectionLines(x, top, bottom) {
  return svg("g", {class: "collected", "aria-hidden": "true", "stroke-opacity": Math.max(.12, Math.min(.6, 12 / line.collections.length)).toFixed(2)},
    line.collections.map(([step]) => x(stepEnd(step) - line.step_ns / 2)).filter((at) => at >= LEFT && at <= WIDTH - RIGHT)
      .map((at) => svg("line", {x1: at.toFixed(1), x2: at.toFixed(1), y1: top, y2: bottom})));
}

/* Draws classes as bands, with the rest on top. */
function bands() {
  const named = line.classes.map((one, i) => ({name: javaName(one.name), values: one.bytes, color: color(i)}));
  const rest = line.live.map((all, i) => Math.max(0, all - named.reduce((sum, one) => sum + one.values[i], 0)));
  named.push({name: "all others", values: rest, color: "var(--rest)"});
  return named;
}

function liveChart() {
  if (!hasObjects && line.live.every((v) => v === 0))
    return explain("live-chart", "The trace has no objects.");
  const HEIGHT = 360, BOTTOM = 44, TOP = 8;
  const top = Math.max(1, ...line.most);
  const yOf = (v) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v / top;
  const all = bands();
  const picture = svg("svg", {viewBox: "0 0 " + WIDTH + " " + HEIGHT, role: "img", tabindex: "0",
    "aria-label": "Live bytes over time by class. Peak " + bytes(data.summary.peak_bytes) + " at " + time(data.summary.peak_ns) +
      ", " + bytes(data.summary.live_bytes) + " at the end. Arrow keys read it step by step."});
  for (const v of marks(top, 4, 1024))
    picture.append(svg("line", {class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(v), y2: yOf(v)}),
      svg("text", {x: LEFT - 6, y: yOf(v) + 4, "text-anchor": "end"}, bytes(v)));
  const below = new Array(steps).fill(0);
  for (const band of all) {
    const lower = below.map((v, i) => xOf(stepEnd(i)).toFixed(1) + "," + yOf(v).toFixed(1));
    band.values.forEach((v, i) => { below[i] += v; });
    const upper = below.map((v, i) => xOf(stepEnd(i)).toFixed(1) + "," + yOf(v).toFixed(1));
    picture.append(svg("polygon", {points: upper.concat(lower.reverse()).join(" "), style: "fill:" + band.color}, svg("title", {}, band.name)));
  }
  picture.append(svg("polyline", {class: "most", points: line.most.map((v, i) => xOf(stepEnd(i)).toFixed(1) + "," + yOf(v).toFixed(1)).join(" ")}));
  for (const [step] of line.collections) {
    const x = xOf(stepEnd(step) - line.step_ns / 2);
    picture.append(svg("line", {class: "collection", x1: x, x2: x, y1: HEIGHT - BOTTOM + 20, y2: HEIGHT - BOTTOM + 32}));
  }
  picture.append(collectionLines(xOf, TOP, HEIGHT - BOTTOM), timeAxis(HEIGHT - BOTTOM),
    svg("text", {x: LEFT - 6, y: HEIGHT - BOTTOM + 31, "text-anchor": "end"}, "collections"));
  const moment = data.moment;
  if (moment.live_bytes > 0) {
    const x = xOf(moment.time_ns);
    picture.append(svg("line", {class: "cursor", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM, "stroke-dasharray": "2 3"}));
  }
  const cursor = svg("line", {class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden"});
  picture.append(cursor);
  const collected = new Map(line.collections.map(([step, times, freed]) => [step, {times, freed}]));
  let at = steps - 1;

  function tell(i, x, y) {
    at = Math.max(0, Math.min(steps - 1, i));
    cursor.setAttribute("x1", xOf(stepEnd(at)));
    cursor.setAttribute("x2", xOf(stepEnd(at)));
    cursor.setAttribute("visibility", "visible");
    const lines = [time(stepEnd(at)) + ": " + bytes(line.live[at]) + " in " + count(line.objects[at]) + " objects (up to " + bytes(line.most[at]) + ")"];
    if (collected.has(at)) lines.push(count(collected.get(at).times) + " collection(s) freed " + bytes(collected.get(at).freed));
    for (const band of all.map((b) => [b.values[at], b.name]).sort((a, b) => b[0] - a[0]).slice(0, 6))
      if (band[0] > 0) lines.push(bytes(band[0]) + "  " + band[1]);
    showTip(lines.join("\n"), x, y);
  }
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const x = (event.clientX - box.left) * WIDTH / box.width;
    const ns = (x - LEFT) / (WIDTH - LEFT - RIGHT) * span;
    tell(Math.floor(ns / line.step_ns), event.clientX, event.clientY);
  });
  picture.addEventListener("pointerleave", () => { cursor.setAttribute("visibility", "hidden"); hideTip(); });
  picture.addEventListener("blur", () => { cursor.setAttribute("visibility", "hidden"); hideTip(); });
  picture.addEventListener("keydown", (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -steps, End: steps}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const box = picture.getBoundingClientRect();
    const next = Math.max(0, Math.min(steps - 1, at + by));
    tell(next, box.left + xOf(stepEnd(next)) * box.width / WIDTH, box.top + box.height / 3);
  });
  const legend = element("ul", {class: "legend"}, all.map((band) => element("li", {}, element("i", {style: "background:" + band.color}), element("span", {class: "name"}, band.name))));
  byId("live-chart").replaceChildren(picture, legend);
}

function lifetimeChart() {
  const buckets = data.lifetimes;
  if (buckets.length === 0) return explain("lifetime-chart", "No object was freed in this trace.");
  const groupOf = (k) => k === 0 ? 0 : Math.floor(Math.log10(2 ** k)); /* by powers of ten */
  const rows = new Array(groupOf(Math.max(...buckets.map(([k]) => k))) + 1).fill(0);
  for (const [k, n] of buckets) rows[groupOf(k)] += n;
  const first = rows.findIndex((n) => n > 0);
  const total = buckets.reduce((sum, one) => sum + one[1], 0);
  const kept = rows.map((n, i) => [i, n]).slice(first);
  const ROW = 24, NAME = 100, BAR = WIDTH - NAME - 170;
  const most = Math.max(...kept.map((row) => row[1]));
  const picture = svg("svg", {viewBox: "0 0 " + WIDTH + " " + (kept.length * ROW + 6), role: "img", "aria-label":
    "Lifetimes: " + kept.map(([i, n]) => share(n, total) + " below " + time(10 ** (i + 1))).join(", ")});
  kept.forEach(([i, n], row) => {
    const y = row * ROW + 2;
    picture.append(svg("text", {x: NAME, y: y + 15, "text-anchor": "end"}, "below " + time(10 ** (i + 1))),
      svg("rect", {class: "bar", x: NAME + 8, y, width: BAR * n / most, height: ROW - 5}),
      svg("text", {x: NAME + 14 + BAR * n / most, y: y + 15}, share(n, total) + "  (" + count(n) + ")"));
  });
  byId("lifetime-chart").replaceChildren(picture);
}

function threadChart() {
  const shown = data.threads.filter((one) => one.activity.length > 0 || one.start_ns !== null).slice(0, 40);
  if (shown.length === 0) return explain("thread-chart", "The trace has no threads.");
  const ROW = 20, NAME = Math.min(260, Math.round(WIDTH / 3)), LETTER = 7.2;
  const calls = !hasObjects;
  const x = (ns) => NAME + (WIDTH - NAME - RIGHT) * Math.min(1, Math.max(0, (ns - line.start_ns) / span));
  const most = Math.max(1, ...shown.flatMap((one) => one.activity.map((pair) => pair[1])));
  const height = shown.length * ROW + 26;
  const picture = svg("svg", {viewBox: "0 0 " + WIDTH + " " + height, role: "img", "aria-label":
    "Threads over time: when each ran, darker where it " + (calls ? "called" : "allocated") + " more. The table below has the figures."});
  shown.forEach((one, row) => {
    const y = row * ROW + 2;
    const from = x(one.start_ns === null ? line.start_ns : one.start_ns);
    const to = x(one.end_ns === null ? data.summary.last_ns : one.end_ns);
    picture.append(svg("text", {x: NAME - 8, y: y + 13, "text-anchor": "end"}, cutMiddle(one.name, Math.floor((NAME - 8) / LETTER)), svg("title", {}, one.name)),
      svg("rect", {class: "alive", x: from, y, width: Math.max(1, to - from), height: ROW - 4}, svg("title", {}, one.name)));
    for (const [i, amount] of one.activity) {
      const left = x(line.start_ns + i * line.step_ns);
      const cell = svg("rect", {class: "bar", x: left.toFixed(1), y, width: Math.max(.8, x(stepEnd(i)) - left).toFixed(1), height: ROW - 4,
        "fill-opacity": (.15 + .85 * Math.sqrt(amount / most)).toFixed(2)});
      cell.append(svg("title", {}, one.name + "\n" + time(stepEnd(i)) + ": " + (calls ? count(amount) + " calls" : bytes(amount) + " allocated")));
      picture.append(cell);
    }
  });
  picture.append(collectionLines(x, 0, height - 22));
  for (const ns of marks(span, Math.max(2, timeMarks() - 1), 10)) {
    const at = x(line.start_ns + ns);
    picture.append(svg("text", {x: at, y: height - 6, "text-anchor": at > WIDTH - 40 ? "end" : ns === 0 ? "start" : "middle"}, time(line.start_ns + ns)));
  }
  const note = data.threads.length > shown.length ? [element("p", {class: "hint"}, "The " + shown.length + " most active of " + count(data.threads.length) + " threads; the table has all that are in this page.")] : [];
  byId("thread-chart").replaceChildren(picture, ...note);
}
