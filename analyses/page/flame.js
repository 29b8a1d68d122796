/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flame graph: a tree of call sites, root at the top, as a list of boxes with keyboard control:
 * arrows move, Enter zooms, Escape goes back.  Boxes narrower than a pixel or two are not created.
 */
const ROW_HEIGHT = 19, LETTER = 7.3;

/* Returns a node below the root for the stacks whose callers were not recorded: they are not siblings of those that begin
 * where threads do. */
function joinCut(nodes, sites, cut) {
  const joined = {name: "(stack cut at " + sites.stack_limit + " frames)", parent: nodes[0], own: 0, sum: 0, other: 0, children: [], depth: 1, isCut: true};
  for (const i of cut) {
    joined.sum += nodes[i].sum;
    joined.other += nodes[i].other;
  }
  if (joined.sum > 0) nodes[0].children.push(joined);
  return joined;
}

/* Builds nodes with children; a node's sums include all its children. */
function buildTree(one) {
  const sites = data.sites, own = one.values || sites[one.column];
  const textOf = (i) => siteName(sites.names[sites.name ? sites.name[i] : i]);
  const nodes = sites.parent.map((parent, i) => ({
    name: i === 0 ? "all" : textOf(i), parent: null, own: own[i], sum: own[i],
    other: one.beside ? sites[one.beside][i] : 0, children: [], depth: 0}));
  for (let i = nodes.length - 1; i > 0; i--) {
    nodes[sites.parent[i]].sum += nodes[i].sum;
    nodes[sites.parent[i]].other += nodes[i].other;
  }
  const cut = new Set(sites.cut), aboveCut = joinCut(nodes, sites, cut);
  for (let i = 1; i < nodes.length; i++) {
    const parent = cut.has(i) ? aboveCut : nodes[sites.parent[i]];
    nodes[i].parent = parent;
    nodes[i].depth = parent.depth + 1;
    if (nodes[i].sum > 0) parent.children.push(nodes[i]);
  }
  if (one.beside) nodes.forEach((node, i) => { node.ownOther = sites[one.beside][i]; });
  for (const node of nodes) node.children.sort((a, b) => b.sum - a.sum);
  return nodes[0];
}

/* Builds the inverted tree: the innermost frame first. */
function invertTree(root) {
  const top = {name: "all", parent: null, own: 0, sum: root.sum, other: root.other, children: [], depth: 0, index: new Map()};
  const visit = (node) => {
    if (node.own > 0) {
      let at = top;
      for (let up = node; up.parent !== null; up = up.parent) {
        let child = at.index.get(up.name);
        if (child === undefined) {
          child = {name: up.name, parent: at, own: 0, sum: 0, other: 0, children: [], depth: at.depth + 1, index: new Map()};
          at.index.set(up.name, child);
          at.children.push(child);
        }
        child.sum += node.own;
        child.other += node.ownOther || 0;
        at = child;
      }
    }
    node.children.forEach(visit);
  };
  visit(root);
  const sort = (node) => { node.children.sort((a, b) => b.sum - a.sum); node.children.forEach(sort); };
  sort(top);
  return top;
}

/* Returns a frame's name in at most so many letters: whole, as Class.method:line, method:line, method,
 * or the beginning of the method.  "com/acme/Shop.order(Shop.java:17)" is never cut to "va:17)". */
function frameLabel(name, letters) {
  if (name.length <= letters) return name;
  if (name.startsWith("(")) return cutRight(name, letters);
  const parts = /^(.*?)(?:\(([^()]*?)(?::(\d+))?\)|(@\d+))?$/s.exec(name);
  const line = parts[4] || (parts[3] === undefined ? "" : ":" + parts[3]);
  const method = parts[1].replace(/[./+]0x[0-9a-f]+(?=\.)/, "").replace(/^.*[./]([^./]+\.[^./]+)$/, "$1"), short = method.replace(/^.*\./, "");
  return [method + line, short + line, short].find((label) => label.length <= letters) || cutRight(short, letters);
}

/* Returns the same colour for the same package. */
function flameColor(name) {
  name = name.split("(")[0];
  const package_ = name.slice(0, Math.max(0, name.lastIndexOf(".", name.lastIndexOf(".") - 1)));
  let hash = 0;
  for (let i = 0; i < package_.length; i++) hash = (hash * 31 + package_.charCodeAt(i)) | 0;
  let tint = 0;
  for (let i = 0; i < name.length; i++) tint = (tint * 17 + name.charCodeAt(i)) | 0;
  return "hsl(" + (20 + Math.abs(hash) % 190) + " 62% " + (66 + Math.abs(tint) % 12) + "%)";
}

/* what: {measures: {key: {title, column, show, beside}}, first, hint, color(node, measure)}.
 * beside: another column that boxes also show.  Returns a function that shows a time range. */
function flameGraph(what) {
  const measures = what.measures;
  if (data.sites.parent.length <= 1)
    return noStacks("flame-graph");
  let measure = what.first;
  let inverted = false;
  let wanted = "";
  let root, zoomed, cutSum;
  const list = element("ul", {role: "tree", "aria-label": "Flame graph"});
  const told = element("p", {class: "hint", role: "status"});
  const choose = element("select", {onchange: () => { measure = choose.value; rebuild(); }},
    Object.entries(measures).map(([key, one]) => element("option", {value: key}, one.title)));
  choose.value = measure;
  const turn = element("select", {onchange: () => { inverted = turn.value === "up"; rebuild(); }},
    element("option", {value: "down"}, "callers above"), element("option", {value: "up"}, "innermost first"));
  const search = element("input", {type: "search", oninput: () => { wanted = search.value.toLowerCase(); draw(); }});
  const reset = element("button", {type: "button", onclick: () => zoom(root)}, "Reset zoom");
  const holder = element("div", {class: "flame"}, list);
  byId("flame-graph").replaceChildren(
    element("p", {class: "hint"}, what.hint + " Click or press Enter to zoom, Escape to go back; arrows move."),
    element("div", {class: "controls"}, element("label", {}, "Measure", choose), element("label", {}, "Direction", turn), element("label", {}, "Search", search), reset),
    holder, told);

  function rebuild() {
    const tree = buildTree(measures[measure]);
    cutSum = tree.children.filter((node) => node.isCut).reduce((sum, node) => sum + node.sum, 0);
    root = inverted ? invertTree(tree) : tree;
    zoom(root);
  }

  function zoom(node) {
    zoomed = node;
    draw();
  }

  const describe = (node) => node.name + "\n" + measures[measure].show(node.sum) + " (" + share(node.sum, root.sum) + ")" +
    (node.own > 0 && !inverted ? ", in itself " + measures[measure].show(node.own) : "") +
    (measures[measure].beside ? "\n" + measures[measure].tell(node.sum, node.other) : "");

  function box(node, left, width, total, above) {
    const made = element("li", {role: "treeitem", tabindex: node === zoomed ? "0" : "-1", "aria-level": node.depth + 1,
      "aria-label": describe(node).replaceAll("\n", ": "), class: above ? "above" : null,
      style: "left:" + (100 * left / total).toFixed(4) + "%;width:" + (100 * width / total).toFixed(4) + "%;top:" + node.depth * ROW_HEIGHT + "px;background:" + what.color(node, measures[measure])},
    frameLabel(node.depth === 0 ? "all: " + measures[measure].show(node.sum) : node.name, Math.floor((holder.clientWidth * width / total - 7) / LETTER)));
    if (wanted !== "" && node.name.toLowerCase().includes(wanted)) made.classList.add("found");
    made.node = node;
    node.box = made;
    return made;
  }

  /* Nested matches on a path count once. */
  function found(node) {
    if (node.name.toLowerCase().includes(wanted)) return node.sum;
    return node.children.reduce((sum, child) => sum + found(child), 0);
  }

  function draw() {
    const boxes = [];
    const total = zoomed.sum;
    const least = total / Math.max(300, holder.clientWidth) * 1.5;
    let deepest = 0;
    for (let up = zoomed.parent; up !== null; up = up.parent) boxes.unshift(box(up, 0, total, total, true));
    const pending = [[zoomed, 0]];
    while (pending.length > 0) {
      const [node, left] = pending.pop();
      boxes.push(box(node, left, node.sum, total, false));
      deepest = Math.max(deepest, node.depth);
      let at = left;
      const next = [];
      for (const child of node.children) {
        child.box = null;
        if (child.sum >= least) next.push([child, at]);
        at += child.sum;
      }
      pending.push(...next.reverse());
    }
    list.style.height = (deepest + 1) * ROW_HEIGHT + "px";
    list.replaceChildren(...boxes);
    const lines = [measures[measure].show(root.sum) + " in all"];
    if (cutSum > 0) lines.push("stacks cut at " + data.sites.stack_limit + " frames: " + measures[measure].show(cutSum) + " (--stack=N records more)");
    if (zoomed !== root) lines.push("zoomed to " + zoomed.name + ": " + measures[measure].show(zoomed.sum));
    if (wanted !== "") { const sum = found(root); lines.push("found: " + measures[measure].show(sum) + " (" + share(sum, root.sum) + ")"); }
    told.textContent = lines.join("; ");
    reset.disabled = zoomed === root;
  }

  function focus(node) {
    if (!node || !node.box) return;
    list.querySelectorAll('li[tabindex="0"]').forEach((other) => other.setAttribute("tabindex", "-1"));
    node.box.setAttribute("tabindex", "0");
    node.box.focus({preventScroll: false});
  }

  function beside(node, by) {
    if (node.parent === null) return node;
    const shown = node.parent.children.filter((child) => child.box);
    return shown[shown.indexOf(node) + by];
  }

  list.addEventListener("click", (event) => { if (event.target.node) zoom(event.target.node); });
  list.addEventListener("pointermove", (event) => { if (event.target.node) showTip(describe(event.target.node), event.clientX, event.clientY); else hideTip(); });
  list.addEventListener("pointerleave", hideTip);
  list.addEventListener("focusin", (event) => {
    if (!event.target.node || !event.target.matches(":focus-visible")) return;
    const place = event.target.getBoundingClientRect();
    showTip(describe(event.target.node), place.left, place.top);
  });
  list.addEventListener("focusout", hideTip);
  list.addEventListener("keydown", (event) => {
    const node = event.target.node;
    if (!node) return;
    const moves = {ArrowDown: () => node.children.find((child) => child.box), ArrowUp: () => node.parent, ArrowLeft: () => beside(node, -1), ArrowRight: () => beside(node, 1), Home: () => root};
    if (moves[event.key]) {
      event.preventDefault();
      focus(moves[event.key]());
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      zoom(node);
      focus(node);
    } else if (event.key === "Escape") {
      const back = zoomed.parent || root;
      zoom(back);
      focus(back);
    }
  });
  addEventListener("resize", draw);
  rebuild();

  /* Shows a time range, or null for the whole trace.  sites: by site, objects and bytes allocated in it and alive
   * at its end.  words, end: names of the range and of its end. */
  const RANGE = ["range_objects", "range_bytes", "range_live_objects", "range_live_bytes"];
  return (range) => {
    for (const key of RANGE) {
      delete measures[key];
      choose.querySelectorAll('option[value="' + key + '"]').forEach((option) => option.remove());
    }
    if (range) {
      const titles = ["objects allocated, " + range.words, "bytes allocated, " + range.words, "objects alive at " + range.end, "bytes alive at " + range.end];
      RANGE.forEach((key, n) => { measures[key] = {title: titles[n], values: range.sites[n], show: n % 2 === 1 ? bytes : count}; });
      for (const key of [...RANGE].reverse()) choose.append(element("option", {value: key}, measures[key].title));
      if (!measure.startsWith("range")) measure = measure.endsWith("objects") ? "range_objects" : "range_bytes";
    } else if (!measures[measure]) {
      measure = what.first;
    }
    choose.value = measure;
    rebuild();
  };
}
