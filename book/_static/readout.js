// Reads a figure's data out under the pointer or by the arrow keys: the cell of a map with its verdict, the point of
// a curve and how the curve ends. The numbers are those of the CSV file beside the figure; the page gives, of each
// panel, its box within the picture, its scales and its columns. Without scripts the picture stays as it is.
(function () {
  "use strict";

  var GREEK = { alpha: "α", beta: "β", gamma: "γ", eta: "η", kappa: "κ", lambda: "λ" };
  var IDLE = "Point at the figure to read its data.";
  var REACH = 40; // pixels from the pointer to a curve's nearest point
  var KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  function element(tag, attributes) {
    var made = document.createElement(tag);
    Object.keys(attributes).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    return made;
  }

  function number(text) {
    return text === "" ? NaN : text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
  }

  function columnsOf(csv) {
    var columns = {}, rows = csv.trim().split("\n").map(function (row) {
      return row.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map(function (cell) { return cell.replace(/^"(.*)"$/, "$1").replace(/""/g, '"'); });
    });
    rows[0].forEach(function (name, i) { columns[name] = rows.slice(1).map(function (row) { return row[i]; }); });
    return columns;
  }

  // The data are a script, for a page from the disk may not fetch a file; it is loaded when first asked for.
  function load(source, key, then) {
    var store = window.lazyrichData = window.lazyrichData || {};
    if (store[key]) return then(columnsOf(store[key]));
    var script = element("script", { src: source });
    script.onload = function () { then(columnsOf(store[key])); };
    document.head.append(script);
  }

  // Where a value lies between the ends of a scale, 0 to 1.
  function along(axis, value) {
    var log = axis[0] === "log" ? Math.log : Number;
    return (log(value) - log(axis[1])) / (log(axis[2]) - log(axis[1]));
  }

  // The points of a panel as {x, y: parts of the panel from left and bottom, row, names, series}.
  function pointsOf(panel, columns) {
    var points = [];
    (panel.cells ? [panel.cells] : panel.lines).forEach(function (names, series) {
      columns[names[0]].forEach(function (value, row) {
        var x = along(panel.x, number(value)), y = along(panel.y, number(columns[names[1]][row]));
        if (x > -1e-6 && x < 1 + 1e-6 && y > -1e-6 && y < 1 + 1e-6)
          points.push({ x: x, y: y, row: row, names: names, series: series });
      });
    });
    return points;
  }

  function digits(value) {
    if (!isFinite(value)) return value > 0 ? "∞" : isNaN(value) ? "none" : "−∞";
    var size = Math.abs(value);
    return size && (size < 1e-3 || size >= 1e5) ? value.toExponential(2).replace("e+", "e") : String(+value.toPrecision(4));
  }

  function titled(name) {
    return name.replace(/_.*/, "").replace(/^[a-z]+$/, function (word) { return GREEK[word] || word; });
  }

  // A cell: its columns, the last of which is the verdict. A point: its curve, and how a curve in time ends.
  function told(point, columns, panel) {
    var values = point.names.map(function (name) { return columns[name] && columns[name][point.row]; });
    var which = point.names[2].split("_").slice(1).join(" "); // of maps side by side
    if (panel.cells) return (which ? which + ": " : "") + point.names.map(function (name, i) {
      return isNaN(number(values[i])) ? values[i] : titled(name) + " = " + digits(number(values[i]));
    }).join(", ");
    var label = point.names[2], xName = panel.names[0], yName = panel.names[1];
    var text = (label ? label + ": " : "") + xName + " = " + digits(number(values[0])) + ", " + yName + " = " + digits(number(values[1]));
    if (!/\b(steps?|time)\b/.test(xName)) return text;
    var curve = columns[point.names[1]].map(number), lost = curve.indexOf(Infinity);
    if (lost >= 0) return text + "; diverged at " + xName + " = " + digits(number(columns[point.names[0]][lost]));
    return text + "; ends at " + digits(curve.filter(isFinite).pop());
  }

  function prepare(about) {
    var figure = about.closest("figure"), image = figure && figure.querySelector("img");
    if (!image) return;
    var panels = JSON.parse(about.textContent), columns = null, at = null;
    var frame = element("div", { class: "readout-frame" }), mark = element("span", { class: "readout-mark", hidden: "" });
    var text = element("p", { class: "readout-text", "aria-live": "polite" });
    var glass = element("div", { class: "readout-glass", tabindex: "0", role: "application",
      "aria-label": "Data of this figure. Arrow keys move from point to point, Page Up and Page Down from panel to panel." });
    var whole = image.closest("a") || image;
    whole.replaceWith(frame);
    frame.append(whole, glass, mark);
    frame.after(text);
    text.textContent = IDLE;

    function ready(then) {
      if (columns) return then();
      load(about.dataset.source, about.dataset.key, function (loaded) {
        columns = loaded;
        panels.forEach(function (panel) { panel.points = pointsOf(panel, columns); });
        then();
      });
    }

    // The picture's content on the page, without its padding.
    function picture() {
      var box = image.getBoundingClientRect(), outer = frame.getBoundingClientRect(), pad = parseFloat(getComputedStyle(image).paddingLeft) || 0;
      return { left: box.left - outer.left + pad, top: box.top - outer.top + pad, width: box.width - 2 * pad, height: box.height - 2 * pad, page: outer };
    }

    function placed(panel, point, inner) {
      return {
        x: inner.left + (panel.box[0] + panel.box[2] * point.x) * inner.width,
        y: inner.top + (panel.box[1] + panel.box[3] * (1 - point.y)) * inner.height,
      };
    }

    function show(k, point) {
      at = { panel: k, point: point };
      var spot = placed(panels[k], point, picture());
      mark.style.left = spot.x + "px";
      mark.style.top = spot.y + "px";
      mark.hidden = false;
      text.textContent = told(point, columns, panels[k]);
    }

    function pointed(event) {
      ready(function () {
        var inner = picture(), x = event.clientX - inner.page.left, y = event.clientY - inner.page.top, best = null;
        panels.forEach(function (panel, k) {
          var left = inner.left + panel.box[0] * inner.width, top = inner.top + panel.box[1] * inner.height;
          if (x < left || y < top || x > left + panel.box[2] * inner.width || y > top + panel.box[3] * inner.height) return;
          panel.points.forEach(function (point) {
            var spot = placed(panel, point, inner), far = Math.hypot(spot.x - x, spot.y - y);
            if ((panel.cells || far < REACH) && (!best || far < best.far)) best = { far: far, k: k, point: point };
          });
        });
        if (best) show(best.k, best.point);
        else {
          mark.hidden = true;
          text.textContent = IDLE;
        }
      });
    }

    // The nearest point in a direction: on a curve its next one, or the next curve; on a map the next cell.
    function next(panel, from, way) {
      var best = null, least = Infinity;
      panel.points.forEach(function (point) {
        var dx = point.x - from.x, dy = point.y - from.y, cost;
        if (panel.lines && way[0]) cost = point.series === from.series && dx * way[0] > 0 ? Math.abs(dx) : Infinity;
        else if (panel.lines) cost = point.series !== from.series && dy * way[1] > 0 ? Math.abs(dy) + 5 * Math.abs(dx) : Infinity;
        else {
          var ahead = dx * way[0] + dy * way[1], aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
          cost = ahead > 1e-9 ? ahead + 5 * aside : Infinity;
        }
        if (cost < least) { least = cost; best = point; }
      });
      return best;
    }

    function pressed(event) {
      var way = KEYS[event.key], turn = { PageDown: 1, PageUp: -1 }[event.key];
      if (!way && !turn) return;
      event.preventDefault();
      event.stopPropagation(); // the theme turns pages with arrow keys
      ready(function () {
        var k = at ? at.panel : 0, panel = panels[k];
        if (turn && at) {
          k = (k + turn + panels.length) % panels.length;
          panel = panels[k];
        }
        var middle = panel.points[Math.floor(panel.points.length / 2)];
        var found = at && way ? next(panel, at.point, way) || at.point : middle;
        if (found) show(k, found);
      });
    }

    glass.addEventListener("pointermove", pointed);
    glass.addEventListener("click", pointed);
    glass.addEventListener("keydown", pressed);
    window.addEventListener("resize", function () { mark.hidden = true; });
  }

  document.querySelectorAll("script.figure-panels").forEach(prepare);
})();
