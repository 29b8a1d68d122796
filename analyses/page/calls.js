/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the longest calls over time, by thread, nested.  The picture zooms (wheel, + and -,
 * buttons) and moves (drag, arrows).
 */
function callTimeline() {
  const {threads, methods, calls} = data.calls;
  if (calls.length === 0) return explain("call-timeline", "The trace has no calls. Record it with events=class+thread+method to see them.");
  if (!data.clock) return explain("call-timeline", "The trace has no clock (resolution=none), so it does not show how long calls took.");
  const ROW = 15, MOST_DEEP = 24;
  const deepest = threads.map(() => 0);
  for (const [, , thread, , depth] of calls) deepest[thread] = Math.max(deepest[thread], Math.min(depth, MOST_DEEP - 1));
  const tops = [];
  let height = 4;
  threads.forEach((_, i) => { tops.push(height); height += (deepest[i] + 2) * ROW + 6; });
  const begin = Math.min(...calls.map((call) => call[0])), finish = Math.max(...calls.map((call) => call[0] + call[1]));
  let from = begin, to = Math.max(finish, begin + 1);
  const picture = svg("svg", {viewBox: "0 0 " + WIDTH + " " + (height + 22), role: "img", tabindex: "0"});
  const told = element("span", {class: "told", role: "status"});
  const button = (title, act) => element("button", {type: "button", onclick: act}, title);
  byId("call-timeline").replaceChildren(
    element("div", {class: "controls"}, button("Zoom in", () => zoom(.5, .5)), button("Zoom out", () => zoom(2, .5)), button("Earlier", () => move(-.3)), button("Later", () => move(.3)),
      button("All", () => { from = begin; to = Math.max(finish, begin + 1); draw(); }), told), picture);

  const x = (ns) => LEFT + (WIDTH - LEFT - RIGHT) * (ns - from) / (to - from);

  function zoom(by, at) {
    const middle = from + (to - from) * at;
    const length = Math.min(Math.max(10, (to - from) * by), Math.max(1, finish - begin));
    from = Math.max(begin, Math.min(middle - length * at, finish - length));
    to = from + length;
    draw();
  }

  function move(by) {
    const length = to - from;
    from = Math.max(begin, Math.min(from + length * by, finish - length));
    to = from + length;
    draw();
  }

  function draw() {
    const parts = [];
    let shown = 0;
    threads.forEach((name, i) => parts.push(svg("text", {x: LEFT, y: tops[i] + 11}, cutMiddle(name, Math.floor((WIDTH - LEFT) / 7)), svg("title", {}, name))));
    for (const [start, length, thread, method, depth] of calls) {
      if (start > to || start + length < from || depth >= MOST_DEEP) continue;
      const left = Math.max(LEFT, x(start)), right = Math.min(WIDTH - RIGHT, x(start + length));
      if (right - left < .3) continue;
      shown++;
      const y = tops[thread] + (depth + 1) * ROW;
      const box = svg("rect", {x: left.toFixed(2), y, width: Math.max(.5, right - left).toFixed(2), height: ROW - 1, style: "fill:" + flameColor(methodName(methods[method]).replace(/\(.*/, ""))});
      box.call = methodName(methods[method]) + "\n" + time(length) + " from " + time(start);
      parts.push(box);
      if (right - left > 60) parts.push(svg("text", {class: "call", x: left + 3, y: y + 11}, cutLeft(methodName(methods[method]).replace(/\(.*/, "").replace(/^.*\.([^.]+\.[^.]+)$/, "$1"), Math.floor((right - left) / 7))));
    }
    parts.unshift(collectionLines(x, 0, height));
    for (const ns of marks(to - from, timeMarks(), 10)) {
      const at = x(from + ns);
      parts.push(svg("text", {x: at, y: height + 16, "text-anchor": at > WIDTH - 40 ? "end" : ns === 0 ? "start" : "middle"}, time(from + ns)));
    }
    picture.replaceChildren(...parts);
    told.textContent = time(from) + " to " + time(to) + ": " + count(shown) + " calls drawn";
    picture.setAttribute("aria-label", "Calls over time, " + told.textContent + ". Plus and minus zoom, arrow keys move; the table of methods has the totals.");
  }

  const placeOf = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.min(1, Math.max(0, ((event.clientX - box.left) * WIDTH / box.width - LEFT) / (WIDTH - LEFT - RIGHT)));
  };
  picture.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? .8 : 1.25, placeOf(event)); }, {passive: false});
  picture.addEventListener("keydown", (event) => {
    const act = {"+": () => zoom(.5, .5), "=": () => zoom(.5, .5), "-": () => zoom(2, .5), ArrowLeft: () => move(-.2), ArrowRight: () => move(.2), Home: () => move(-1e9), End: () => move(1e9)}[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  let held = null;
  picture.addEventListener("pointerdown", (event) => { held = placeOf(event); });
  addEventListener("pointerup", () => { held = null; });
  picture.addEventListener("pointermove", (event) => {
    if (held !== null) {
      const now = placeOf(event);
      if (Math.abs(now - held) > .002) { move(held - now); held = now; }
      return;
    }
    if (event.target.call) showTip(event.target.call, event.clientX, event.clientY); else hideTip();
  });
  picture.addEventListener("pointerleave", hideTip);
  draw();
}
