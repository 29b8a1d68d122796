/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers and names, and creates elements. */
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

const count = (n) => Math.round(n).toLocaleString("en-US");
const three = (x) => x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);

function scaled(x, units, step) {
  let i = 0;
  while (Math.abs(x) >= step && i < units.length - 1) {
    x /= step;
    i++;
  }
  return (i === 0 ? count(x) : three(x)) + " " + units[i];
}

const bytes = (n) => scaled(n, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
const share = (part, whole) => whole > 0 ? three(100 * part / whole) + " %" : "-";

/* Without a clock times are steps, one more with each collection. */
function time(ns) {
  if (data.clock === false) return count(ns) + (ns === 1 ? " step" : " steps");
  if (ns < 1e3) return count(ns) + " ns";
  if (ns < 1e6) return three(ns / 1e3) + " \u00b5s";
  if (ns < 1e9) return three(ns / 1e6) + " ms";
  if (ns < 6e11) return three(ns / 1e9) + " s";
  const s = Math.round(ns / 1e9);
  const pad = (n) => String(n).padStart(2, "0");
  return (s >= 3600 ? Math.floor(s / 3600) + " h " + pad(Math.floor(s / 60) % 60) : Math.floor(s / 60)) +
    " min " + pad(s % 60) + " s";
}

/* The columns that the data names, [[key, title, unit], ...], for sortableTable(); `of` finds the
 * value of the i-th column in a row, null where there is none.  Those of `first` come first. */
const UNITS = {objects: count, bytes, time, number: three};
function columnsOf(heads, first, of) {
  const columns = heads.map(([key, title, unit], i) =>
    ({key, title, of: (row) => of(row, i, key) ?? -1, show: (value) => value < 0 ? "-" : UNITS[unit](value)}));
  return [...first.flatMap((key) => columns.filter((column) => column.key === key)), ...columns.filter((column) => !first.includes(column.key))];
}

/* Formats "java/util/Map$Entry" and "[[I" as in Java source. */
function javaName(name) {
  const dims = /^\[*/.exec(name)[0].length;
  if (dims === 0) return name.replaceAll("/", ".");
  const basic = {Z: "boolean", B: "byte", C: "char", S: "short", I: "int", J: "long", F: "float", D: "double"};
  const of = name.slice(dims);
  const element = of[0] === "L" ? of.slice(1, -1).replaceAll("/", ".") : basic[of] || of;
  return element + "[]".repeat(dims);
}

/* The same for "java/util/HashMap.put(HashMap.java:612)", and for methods of inner classes. */
const siteName = (site) => site.replaceAll("/", ".");

/* Returns a list's item with a frame as siteName() formats it; a link to its source where the trace
 * has the file and --source-url says where sources are. */
function frameItem(text) {
  const place = data.source_url === null ? null : /^(.*?)([^.]+)\.[^.(]+\(([^()]+):(\d+)\)$/.exec(text);
  if (place === null) return element("li", {}, breakable(text));
  /* Names may have unpaired surrogates, which cannot be encoded, and what replaceAll() interprets. */
  const path = (place[1].replaceAll(".", "/") + place[3]).replace(/\p{Surrogate}/gu, "\ufffd");
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const address = data.source_url.replaceAll("{path}", () => encoded).replaceAll("{line}", place[4]);
  return element("li", {}, element("a", {href: address, rel: "noopener noreferrer"}, breakable(text)));
}

/* Formats "a/B.m(ILjava/lang/String;)V" as "a.B.m(int, String)". */
function methodName(text) {
  const at = text.indexOf("(");
  if (at < 0) return siteName(text);
  const types = text.slice(at + 1, text.indexOf(")")).match(/\[*(?:[BCDFIJSZ]|L[^;]*;)/g) || [];
  const short = types.map((type) => {
    const name = javaName(type[0] === "[" ? type : "[" + type).replace(/^.*\./, "");
    return type[0] === "[" ? name : name.slice(0, -2);
  });
  return siteName(text.slice(0, at)) + "(" + short.join(", ") + ")";
}

/* Returns a name in pieces with places between them where a line may break: after a dot, slash, dollar sign or bracket, never
 * inside a word, unless it is longer than any line. */
function breakable(name) {
  const pieces = name.split(/(?<=[./$(]|\w{60})(?=\w)/);
  return pieces.flatMap((piece, i) => i === 0 ? [piece] : [element("wbr"), piece]);
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  fill(made, attributes, children);
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(made, attributes, children);
  return made;
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat());
}

/* The tooltip, which follows the pointer or the focus. */
const tip = byId("tip");

function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18) + "px";
}

function hideTip() {
  tip.hidden = true;
}
addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
addEventListener("scroll", hideTip, {passive: true});

/* Shows why a section is empty. */
function explain(id, text) {
  byId(id).replaceChildren(element("p", {class: "note"}, text));
}

function noStacks(id) {
  byId(id).replaceChildren(element("p", {class: "note"}, "The trace has no call stacks, so it does not show which lines allocate. This records them: ",
    element("code", {}, "steptrace record --stack=16 java \u2026"), "; with an agent of your own command line, its option ", element("code", {}, "stack=16"), "."));
}
