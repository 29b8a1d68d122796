/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all charts: size, axis marks at round numbers, and labels that fit. */
const LEFT = 78, RIGHT = 10;

/* Units are pixels of the page, so that text keeps its size on a phone. */
const roomOf = () => Math.max(300, Math.min(1000, byId("main").clientWidth));
let WIDTH = roomOf();
const timeMarks = () => Math.max(2, Math.round(WIDTH / 165));

/* Redraws charts when the available width changes, for example when a phone is rotated. */
function followRoom(draw) {
  addEventListener("resize", () => {
    if (Math.abs(roomOf() - WIDTH) < WIDTH / 10) return;
    WIDTH = roomOf();
    draw();
  });
}

/* Shortens a text in its middle.  Names of one kind mostly begin alike, so the end stays
 * complete. */
function cutMiddle(text, most) {
  if (text.length <= most) return text;
  const head = Math.floor((most - 1) / 3);
  return text.slice(0, head) + "\u2026" + text.slice(text.length - (most - 1 - head));
}

function cutLeft(text, most) {
  return text.length <= most ? text : most < 2 ? "" : "\u2026" + text.slice(text.length - most + 1);
}

function cutRight(text, most) {
  return text.length <= most ? text : most < 2 ? "" : text.slice(0, most - 1) + "\u2026";
}

/* Returns round marks on an axis up to `most`. */
function marks(most, wanted, base) {
  let unit = 1;
  while (unit * base <= most) unit *= base;
  const choices = base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] : [1, 2, 5];
  let step = unit;
  for (let u = Math.max(1, unit / base); u <= unit; u *= base)
    for (const c of choices) if (most / (u * c) >= wanted - 1 && most / (u * c) <= wanted * 2.6) step = u * c;
  const found = [];
  for (let v = 0; v <= most * 1.0001; v += step) found.push(v);
  return found.length > 30 ? [0, most] : found;
}
