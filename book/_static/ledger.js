// Filters above the tables of the ledger page. Without scripts all rows are shown.
(function () {
  "use strict";

  function option(select, value, text) {
    var made = document.createElement("option");
    made.value = value;
    made.textContent = text;
    select.append(made);
  }

  function labelled(box, text, control) {
    var label = document.createElement("label");
    var pair = document.createElement("span");
    control.id = "ledger-" + text;
    label.htmlFor = control.id;
    label.textContent = text;
    pair.append(label, " ", control);
    box.append(pair);
    return control;
  }

  function choice(box, text, values) {
    var select = labelled(box, text, document.createElement("select"));
    option(select, "", "all");
    Array.from(new Set(values)).sort().forEach(function (value) { option(select, value, value); });
    return select;
  }

  document.addEventListener("DOMContentLoaded", function () {
    var tables = Array.from(document.querySelectorAll("table.ledger[class*='of-']"));
    if (!tables.length) return;
    var rows = tables.flatMap(function (table) {
      var chapter = Array.from(table.classList).find(function (c) { return c.startsWith("of-"); }).slice(3);
      return Array.from(table.tBodies[0].rows, function (row) {
        return {
          row: row, chapter: chapter, text: row.textContent.toLowerCase(),
          paper: row.cells[1].textContent.trim(),
          verdict: row.querySelector(".verdict").textContent.trim(),
        };
      });
    });
    var column = function (name) { return rows.map(function (row) { return row[name]; }); };
    var box = document.createElement("form");
    box.className = "ledger-filters";
    box.setAttribute("aria-label", "Filter the ledger");
    var selects = ["chapter", "paper", "verdict"].map(function (name) {
      return [name, choice(box, name, column(name))];
    });
    var words = labelled(box, "words", document.createElement("input"));
    words.type = "search";
    var count = document.createElement("output");
    box.append(count);
    tables[0].closest("section").querySelector(".ledger-place").append(box);

    function apply() {
      var wanted = words.value.toLowerCase().split(/\s+/);
      var shown = 0;
      rows.forEach(function (entry) {
        var fits = selects.every(function (pair) { return !pair[1].value || entry[pair[0]] === pair[1].value; })
          && wanted.every(function (word) { return entry.text.includes(word); });
        entry.row.hidden = !fits;
        shown += fits;
      });
      count.textContent = shown + " of " + rows.length + " claims";
    }
    box.addEventListener("input", apply);
    box.addEventListener("submit", function (event) { event.preventDefault(); });
    apply();
  });
})();
