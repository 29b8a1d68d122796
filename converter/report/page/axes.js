/* SPDX-License-Identifier: Apache-2.0 */
/* What all charts have in common: their size, and marks at round numbers. */
const WIDTH = 1000, LEFT = 78, RIGHT = 10;

/* Round marks on an axis up to `most`. */
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
