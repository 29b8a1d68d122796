/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that sort by any column and can be searched by name.  Rows are added to the page on
 * demand.
 */
const ROWS_AT_ONCE = 20;

/* columns: [{title, of(row), show(value, row), text, first, fixed, open(row), opens(row)}]; rows:
 * any values. `open` makes the content below a row when its name is pressed (if it `opens`).  A
 * `fixed` column cannot be sorted. Without a `first` column, rows keep their order. */
function sortableTable(place, caption, columns, rows) {
  let sorted = columns.findIndex((column) => column.first);
  let descending = true;
  let wanted = "";
  let most = ROWS_AT_ONCE;
  const body = element("tbody");
  const told = element("span", {class: "told", role: "status"});
  const more = element("button", {type: "button", onclick: () => { most *= 4; draw(); }}, "Show more");
  const heads = columns.map((column, i) => element("th", {scope: "col", class: column.text ? "name" : null},
    column.fixed ? element("span", {class: "title"}, column.title) : element("button", {type: "button", onclick: () => sortBy(i)}, column.title)));
  const search = element("input", {type: "search", oninput: () => { wanted = search.value.toLowerCase(); most = ROWS_AT_ONCE; draw(); }});

  function sortBy(i) {
    descending = i === sorted ? !descending : !columns[i].text;
    sorted = i;
    draw();
  }

  function compare(a, b) {
    if (sorted < 0) return 0;
    const x = columns[sorted].of(a), y = columns[sorted].of(b);
    const order = x < y ? -1 : x > y ? 1 : 0;
    return descending ? -order : order;
  }

  function cell(column, row) {
    const value = column.show ? column.show(column.of(row), row) : column.of(row);
    const shown = column.text && typeof value === "string" ? breakable(value) : value;
    const content = column.open && (!column.opens || column.opens(row)) ? element("button", {type: "button", class: "open", "aria-expanded": "false", onclick: (event) => toggle(event.currentTarget, column, row)}, shown) : shown;
    return column.text ? element("th", {scope: "row", class: "name"}, content) : element("td", {}, content);
  }

  function toggle(button, column, row) {
    const line = button.closest("tr");
    const opens = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", opens);
    if (opens) line.after(element("tr", {class: "opened"}, element("td", {colspan: columns.length}, column.open(row))));
    else line.nextSibling.remove();
  }

  function draw() {
    const matching = rows.filter((row) => wanted === "" || columns.some((column) => column.text && String(column.of(row)).toLowerCase().includes(wanted)));
    matching.sort(compare);
    const shown = matching.slice(0, most);
    body.replaceChildren(...shown.map((row) => element("tr", {}, columns.map((column) => cell(column, row)))));
    heads.forEach((head, i) => i === sorted ? head.setAttribute("aria-sort", descending ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    told.textContent = shown.length + " of " + count(matching.length) + " rows";
    more.hidden = shown.length === matching.length;
  }

  byId(place).replaceChildren(
    element("div", {class: "controls"}, element("label", {}, "Search", search), told, more),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
      element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, heads)), body)));
  draw();
}
