/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the call stacks of a line that allocates, below its row in the table of sites. */
const STACKS_AT_ONCE = 20;

/* leaf: an index into data.sites.names; sums: of a time range, or none. */
function callersOf(leaf, sums) {
  const sites = data.sites;
  const [allocated, objects] = sums ? [sums.sites[1], sums.sites[0]] : [sites.allocated_bytes, sites.allocated_objects];
  const stacks = [];
  sites.name.forEach((name, i) => { if (i > 0 && name === leaf && objects[i] > 0) stacks.push(i); });
  stacks.sort((a, b) => allocated[b] - allocated[a]);
  const shown = stacks.slice(0, STACKS_AT_ONCE);
  const all = sums ? [...sums.places].filter(([key]) => key.startsWith(leaf + " ")).reduce((sum, [, one]) => sum + one[1], 0)
    : data.places.filter((row) => row[0] === leaf).reduce((sum, row) => sum + row[3], 0);
  const left = all - shown.reduce((sum, i) => sum + allocated[i], 0);
  return element("div", {class: "stacks"},
    shown.map((site) => {
      const frames = [];
      for (let i = site; i > 0; i = sites.parent[i]) frames.push(frameItem(siteName(sites.names[sites.name[i]])));
      return element("div", {}, element("p", {}, bytes(allocated[site]) + " in " + count(objects[site]) + " objects, of all classes, from"), element("ol", {class: "stack"}, frames));
    }),
    left > 0 ? element("p", {}, bytes(left) + " from other stacks, all of them small") : []);
}
