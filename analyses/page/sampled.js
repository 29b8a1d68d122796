/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the page of a sampled trace.  An estimate is [value, low, high], high null if unknown; sums
 * are [samples, objects, bytes]. */
const sure = (estimate) => estimate[1] === estimate[2];
const range = (show) => (estimate) => estimate === null ? "-" : sure(estimate) ? show(estimate[0]) :
  estimate[2] === null ? "no sample" : show(estimate[0]) + " (" + show(estimate[1]) + " to " + show(estimate[2]) + ")";
const signed = (show) => (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + show(Math.abs(value));
const siteText = (row) => row.site.length === 0 ? "(no stack)" : row.site.map(siteName).join(" \u2190 ");

function showSummary() {
  byId("title").textContent = data.title;
  document.title = data.title + " \u2013 StepTrace";
  byId("subtitle").textContent = "Estimated from " + count(data.allocated[0]) + " samples, one in " + bytes(data.sample_interval_bytes) +
    " on average. Ranges are " + (data.interval_valid ? "" : "no ") + "95 % confidence intervals. Only sites, classes and threads with samples have rows.";
  byId("totals").before(...data.gaps.map((gap) => element("p", {class: "note"}, gap)));
  const rows = [["Allocated", data.allocated], ["Freed", data.freed],
    ["Live at " + data.moment + " (" + time(data.moment_ns) + ", " + count(data.collections) + " collections that freed samples before)", data.live]];
  byId("totals").append(element("table", {},
    element("thead", {}, element("tr", {}, ["", "Samples", "Objects", "Bytes"].map((text) => element("th", {scope: "col"}, element("span", {class: "title"}, text))))),
    element("tbody", {}, rows.map(([title, sums]) => element("tr", {}, element("th", {scope: "row"}, title),
      element("td", {}, count(sums[0])), element("td", {}, range(count)(sums[1])), element("td", {}, range(bytes)(sums[2])))))),
    element("p", {}, "Duration " + time(data.last_ns - data.first_ns) + (data.life === null ? "" : "; mean lifetime of dead objects " + range(time)(data.life))));
}

/* Columns of sums, sorted by the estimate. */
const samples = (key) => ({title: "Samples", of: (row) => row[key][0], show: count});
const objects = (key, title) => ({title, of: (row) => row[key][1][0], show: (value, row) => range(count)(row[key][1])});
const amount = (key, title, first) => ({title, of: (row) => row[key][2][0], show: (value, row) => range(bytes)(row[key][2]), first});

function showTable(id, caption, name, columns, rows) {
  if (rows.length === 0) return explain(id, "No samples.");
  sortableTable(id, caption, [name, ...columns], rows);
}

function showGrowth() {
  if (data.growth === null) return explain("growth-table", "Growth needs the whole trace and three collections that freed samples.");
  showTable("growth-table", "Objects that survived three collections, by how their bytes grow from collection to collection; ~ may be noise",
    {title: "Class and site", of: (row) => javaName(row.class) + ", " + siteText(row), text: true},
    [{title: "Growth per collection", of: (row) => row.noise ? 0 : row.bytes[0], show: (value, row) => (row.noise ? "~ " : "") + range(signed(bytes))(row.bytes), first: true},
      samples("old"), amount("old", "Bytes that survived"), objects("old", "Objects that survived")], data.growth);
}

showSummary();
showGrowth();
const both = [samples("allocated"), amount("allocated", "Allocated", true), objects("allocated", "Objects"), amount("live", "Live"), objects("live", "Live objects")];
showTable("site-table", "Allocation sites", {title: "Site", of: siteText, text: true}, both, data.sites);
showTable("class-table", "Classes", {title: "Class", of: (row) => javaName(row.name), text: true},
  [...both, ...data.class_columns.map(([key, title, unit], i) => ({title, of: (row) => row.columns[i] === null ? 0 : row.columns[i][0], show: (value, row) => range(UNITS[unit])(row.columns[i])}))], data.classes);
showTable("thread-table", "Threads", {title: "Thread", of: (row) => row.thread + " " + row.name, text: true},
  [samples("allocated"), amount("allocated", "Allocated", true), objects("allocated", "Objects")], data.threads.filter((row) => row.allocated[0] > 0));
byId("properties").append(element("table", {}, element("tbody", {}, data.properties.map(([key, value]) =>
  element("tr", {}, element("th", {scope: "row", class: "name"}, key), element("td", {class: "name"}, value))))));
byId("sections").append(...[...document.querySelectorAll("main > section")].map((section) =>
  element("li", {}, element("a", {href: "#" + section.id}, section.querySelector("h2").textContent))));
