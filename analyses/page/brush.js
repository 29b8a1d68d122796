/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects a time range by dragging over the live heap's chart or by two sliders.  The flame graph,
 * the classes and the sites then show what was allocated in it, and what was alive at its end, at
 * the resolution of the page's bins.
 */
const bins = data.bins;
const binStart = (i) => Math.min(bins.start_ns + i * bins.step_ns, data.summary.last_ns);

/* Sums over the bins `from` to `to` - 1: allocated in them, and alive at the end of the last.  By
 * site, by class, and by line and class; each has objects and bytes allocated, objects and bytes
 * alive. */
function sumsOf(from, to) {
  const sites = data.sites;
  const sums = {sites: [0, 1, 2, 3].map(() => new Array(sites.parent.length).fill(0)), classes: data.classes.map(() => [0, 0, 0, 0]), places: new Map(), all: [0, 0, 0, 0]};
  for (let i = 0; i < to; i++) {
    const list = bins.lists[i];
    for (let k = 0; k < list.length; k += 6) {
      const [site, klass, objects, size, more, moreBytes] = list.slice(k, k + 6);
      const inRange = i >= from ? 1 : 0;
      const changes = [inRange * objects, inRange * size, more, moreBytes];
      const add = (to) => changes.forEach((value, n) => { to[n] += value; });
      changes.forEach((value, n) => { sums.sites[n][site] += value; });
      add(sums.all);
      if (klass < 0) continue;
      add(sums.classes[klass]);
      const key = sites.name[site] + " " + data.classes[klass][0];
      if (!sums.places.has(key)) sums.places.set(key, [0, 0, 0, 0]);
      add(sums.places.get(key));
    }
  }
  return sums;
}

/* Calls tell(sums, words) when the range changes, to redraw what depends on it.  sums: null for the
 * whole trace; words: a description of the range. */
function brush(tell) {
  const picture = document.querySelector("#live-chart svg");
  const last = bins.lists.length;
  if (picture === null || last < 2) return;
  let from = 0, to = last;
  const shade = svg("rect", {class: "brush", y: 8, height: 308, visibility: "hidden"});
  picture.append(shade);
  const slider = (value, label, change) => element("input", {type: "range", min: 0, max: last, value, "aria-label": label, oninput: (event) => change(Number(event.target.value))});
  const begin = slider(0, "From", (value) => set(Math.min(value, to - 1), to));
  const end = slider(last, "To", (value) => set(from, Math.max(value, from + 1)));
  const told = element("span", {class: "told", role: "status"});
  const all = element("button", {type: "button", onclick: () => set(0, last)}, "Whole trace");
  byId("live-chart").append(element("div", {class: "controls", id: "range"}, element("label", {}, "Range from", begin), element("label", {}, "to", end), all, told));

  function set(a, b) {
    from = a;
    to = b;
    const whole = from === 0 && to === last;
    begin.value = from;
    end.value = to;
    begin.setAttribute("aria-valuetext", time(binStart(from)));
    end.setAttribute("aria-valuetext", time(binStart(to)));
    shade.setAttribute("visibility", whole ? "hidden" : "visible");
    shade.setAttribute("x", xOf(binStart(from)));
    shade.setAttribute("width", Math.max(2, xOf(binStart(to)) - xOf(binStart(from))));
    all.disabled = whole;
    const sums = whole ? null : sumsOf(from, to);
    const words = time(binStart(from)) + " to " + time(binStart(to));
    told.textContent = whole ? "" : words + ": " + bytes(sums.all[1]) + " in " + count(sums.all[0]) + " objects allocated, " + bytes(sums.all[3]) + " in " + count(sums.all[2]) + " alive at its end; flame graph, classes and sites show this range";
    tell(sums, words, time(binStart(to)));
  }

  const binAt = (event) => {
    const box = picture.getBoundingClientRect();
    const ns = ((event.clientX - box.left) * WIDTH / box.width - LEFT) / (WIDTH - LEFT - RIGHT) * span + line.start_ns;
    return Math.max(0, Math.min(last - 1, Math.floor((ns - bins.start_ns) / bins.step_ns)));
  };
  let first = null;
  picture.addEventListener("pointerdown", (event) => { if (event.button === 0) { first = binAt(event); picture.setPointerCapture(event.pointerId); event.preventDefault(); } });
  picture.addEventListener("pointermove", (event) => {
    if (first === null) return;
    const now = binAt(event);
    if (now !== first || to - from < last) set(Math.min(first, now), Math.max(first, now) + 1);
  });
  picture.addEventListener("pointerup", () => { first = null; });
  picture.addEventListener("pointercancel", () => { first = null; });
  picture.addEventListener("keydown", (event) => { if (event.key === "Escape") set(0, last); });
  set(0, last);
}
