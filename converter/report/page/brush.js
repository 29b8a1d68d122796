/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A range of time, chosen by dragging over the live heap's chart or by two sliders: the flame graph,
 * the classes and the sites then tell what was allocated in it, as well as the page's bins know.
 */
const bins = data.bins;
const binStart = (i) => Math.min(bins.start_ns + i * bins.step_ns, data.summary.last_ns);

/* Allocated in bins `from` up to and without `to`: by site, by class, by line and class. */
function allocatedIn(from, to) {
  const sites = data.sites;
  const sums = {siteBytes: new Array(sites.parent.length).fill(0), siteObjects: new Array(sites.parent.length).fill(0),
    classes: data.classes.map(() => [0, 0]), places: new Map(), objects: 0, bytes: 0};
  for (let i = from; i < to; i++) {
    const list = bins.lists[i];
    for (let k = 0; k < list.length; k += 4) {
      const [site, klass, objects, size] = [list[k], list[k + 1], list[k + 2], list[k + 3]];
      sums.siteObjects[site] += objects;
      sums.siteBytes[site] += size;
      sums.objects += objects;
      sums.bytes += size;
      if (klass < 0) continue;
      sums.classes[klass][0] += objects;
      sums.classes[klass][1] += size;
      const key = sites.name[site] + " " + data.classes[klass][0];
      const place = sums.places.get(key) || [0, 0];
      sums.places.set(key, [place[0] + objects, place[1] + size]);
    }
  }
  return sums;
}

/* tell(sums or null: the whole trace, words for the range) draws what depends on it. */
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
    const sums = whole ? null : allocatedIn(from, to);
    const words = time(binStart(from)) + " to " + time(binStart(to));
    told.textContent = whole ? "" : words + ": " + bytes(sums.bytes) + " in " + count(sums.objects) + " objects allocated; flame graph, classes and sites show this range";
    tell(sums, words);
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
  addEventListener("pointerup", () => { first = null; });
  picture.addEventListener("keydown", (event) => { if (event.key === "Escape") set(0, last); });
  set(0, last);
}
