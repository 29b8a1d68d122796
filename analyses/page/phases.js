/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the phases below the chart of the live heap: a row for each name. */
function phaseChart() {
  const shown = data.phases;
  if (shown.length === 0) return byId("phase-chart").replaceChildren();
  const ROW = 20, LETTER = 7.2;
  const height = shown.length * ROW + 4;
  const picture = svg("svg", {viewBox: "0 0 " + WIDTH + " " + height, role: "img", "aria-label":
    "Phases over time: " + shown.map((one) => one.name.slice(0, 80) + " " + count(one.phases) + " times, " + time(one.total_ns)).join("; ")});
  shown.forEach((one, row) => {
    const y = row * ROW + 2;
    const words = one.name.slice(0, 300) + "\n" + count(one.phases) + (one.program ? " phases of the program, " : " phases of threads, ") + time(one.total_ns);
    for (const [first, last] of one.steps) {
      const left = xOf(line.start_ns + first * line.step_ns);
      picture.append(svg("rect", {class: one.program ? "bar" : "alive", x: left.toFixed(1), y, width: Math.max(1, xOf(stepEnd(last)) - left).toFixed(1), height: ROW - 4},
        svg("title", {}, words)));
    }
    picture.append(svg("text", {x: LEFT - 6, y: y + 13, "text-anchor": "end"}, cutMiddle(one.name, Math.floor((LEFT - 6) / LETTER)), svg("title", {}, words)));
  });
  const left = data.phases_left > 0 ? " " + count(data.phases_left) + " more names have no row." : "";
  byId("phase-chart").replaceChildren(element("p", {class: "hint"}, "Phases: those of the whole program are darker than those of threads." + left), picture);
}
