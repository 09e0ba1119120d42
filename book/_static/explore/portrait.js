// The page "Explore the toy phase portrait": sliders, a map that fills in, and the loss curve of the cell under the cursor.
(function () {
  "use strict";

  var COLUMNS = 81, ROWS = 97, DARKEST = 1e-6, SLICE = 12, LINE = ["#ffffff", "#000000"], engine = window.lazyrichPortrait;
  var MAP = { x: [-5, 5], y: [-12, 12], left: 50, right: 8, top: 12, bottom: 40 };
  // viridis
  var STOPS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26838f", "#1f9d8a", "#6cce5a", "#b6de2b", "#fee825"];
  var RGB = STOPS.map(rgb);

  var SLIDERS = [
    { id: "depth", label: "depth L", min: 2, max: 8, step: 1, start: 4, value: Number, text: String },
    { id: "steps", label: "steps T", min: 1, max: 4, step: 0.1, start: 2,
      value: function (v) { return Math.round(Math.pow(10, v)); }, text: String },
    { id: "target", label: "target y", min: 0.2, max: 3, step: 0.1, start: 1, value: Number, text: function (v) { return v.toFixed(1); } },
    { id: "soft", label: "soft label p", min: 0.55, max: 0.95, step: 0.05, start: 0.75, value: Number, text: function (v) { return v.toFixed(2); } },
  ];

  function element(tag, attributes, text) {
    var made = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    if (text) made.textContent = text;
    return made;
  }

  // Text in which "η_max" has its subscript below the line.
  function worded(node, text) {
    text.split(/_(\w+)/).forEach(function (part, i) { node.append(i % 2 ? element("sub", {}, part) : part); });
    return node;
  }

  function rgb(hex) { return [1, 3, 5].map(function (i) { return parseInt(hex.slice(i, i + 2), 16); }); }

  function css(node, name, otherwise) { return getComputedStyle(node).getPropertyValue(name).trim() || otherwise; }

  function power(exponent) {
    var digits = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
    return exponent ? "10" + String(exponent).split("").map(function (d) { return digits[d]; }).join("") : "1";
  }

  function gammaAt(i) { return Math.pow(10, MAP.x[0] + (MAP.x[1] - MAP.x[0]) * i / (COLUMNS - 1)); }

  function rateAt(j) { return Math.pow(10, MAP.y[0] + (MAP.y[1] - MAP.y[0]) * j / (ROWS - 1)); }

  function colour(share) { // 0 at DARKEST, 1 at the initial loss
    var place = Math.min(Math.max(share, 0), 1) * (RGB.length - 1), i = Math.min(Math.floor(place), RGB.length - 2);
    return RGB[i].map(function (v, k) { return Math.round(v + (place - i) * (RGB[i + 1][k] - v)); });
  }

  // Cells coarse to fine, each with the width of the block that it stands for until finer ones come.
  var ORDER = [];
  [8, 4, 2, 1].forEach(function (size) {
    for (var j = 0; j < ROWS; j += size) for (var i = 0; i < COLUMNS; i += size)
      if (size === 8 || i % (2 * size) || j % (2 * size)) ORDER.push([i, j, size]);
  });

  // A canvas at the screen's resolution; returns its context and how exponents map to pixels.
  function frame(canvas, height, box) {
    var width = Math.max(canvas.clientWidth, 200), ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    var inner = { width: width - box.left - box.right, height: height - box.top - box.bottom };
    return {
      context: context, inner: inner, box: box,
      x: function (e) { return box.left + (e - box.x[0]) / (box.x[1] - box.x[0]) * inner.width; },
      y: function (e) { return box.top + (box.y[1] - e) / (box.y[1] - box.y[0]) * inner.height; },
    };
  }

  function axes(plot, ink, xStep, yStep, xLabel, yLabel) {
    var c = plot.context, box = plot.box, bottom = box.top + plot.inner.height, e;
    c.strokeStyle = c.fillStyle = ink;
    c.lineWidth = 1;
    c.font = "12px sans-serif";
    c.strokeRect(box.left, box.top, plot.inner.width, plot.inner.height);
    c.beginPath();
    c.textAlign = "center";
    c.textBaseline = "top";
    for (e = Math.ceil(box.x[0] / xStep) * xStep; e <= box.x[1]; e += xStep) {
      c.moveTo(plot.x(e), bottom);
      c.lineTo(plot.x(e), bottom + 4);
      c.fillText(power(e), plot.x(e), bottom + 6);
    }
    c.fillText(xLabel, box.left + plot.inner.width / 2, bottom + 22);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (e = Math.ceil(box.y[0] / yStep) * yStep; e <= box.y[1]; e += yStep) {
      c.moveTo(box.left, plot.y(e));
      c.lineTo(box.left - 4, plot.y(e));
      c.fillText(power(e), box.left - 6, plot.y(e));
    }
    c.stroke();
    c.save();
    c.translate(10, box.top + plot.inner.height / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText(yLabel, 0, 0);
    c.restore();
  }

  // A line through exponents (x, y), light with a dark edge so that it shows on every colour.
  function line(plot, points, dash) {
    var c = plot.context;
    c.setLineDash(dash);
    [[LINE[1], 4], [LINE[0], 2]].forEach(function (style) {
      c.strokeStyle = style[0];
      c.lineWidth = style[1];
      c.beginPath();
      points.forEach(function (p) { c.lineTo(plot.x(p[0]), plot.y(p[1])); });
      c.stroke();
    });
    c.setLineDash([]);
  }

  function note(plot, text, x, y) {
    var c = plot.context;
    c.font = "bold 13px sans-serif";
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.lineWidth = 3;
    c.lineJoin = "round";
    c.strokeStyle = LINE[1];
    c.fillStyle = LINE[0];
    c.strokeText(text, x, y);
    c.fillText(text, x, y);
  }

  function start() {
    var place = document.getElementById("explore-portrait");
    if (!place || !engine) return;
    var form = element("form", { class: "explore-controls", "aria-label": "Parameters of the model" }), inputs = {}, shown = {}, rows = {};
    SLIDERS.forEach(function (slider) {
      var id = "portrait-" + slider.id, row = rows[slider.id] = element("div");
      inputs[slider.id] = element("input", { type: "range", id: id, min: slider.min, max: slider.max, step: slider.step, value: slider.start });
      shown[slider.id] = element("output", { for: id });
      row.append(element("label", { for: id }, slider.label), inputs[slider.id], shown[slider.id]);
      form.append(row);
    });
    var choice = element("select", { id: "portrait-loss" }), pick = element("div");
    choice.append(element("option", { value: "mse" }, "squared error"), element("option", { value: "cross-entropy" }, "cross-entropy"));
    pick.append(element("label", { for: "portrait-loss" }, "loss"), choice);
    form.prepend(pick);
    form.addEventListener("submit", function (event) { event.preventDefault(); });

    var about = element("p", { class: "portrait-about" });
    var map = element("canvas", { class: "portrait-map", tabindex: "0", role: "application", "aria-describedby": "portrait-readout",
      "aria-label": "Phase portrait: feature strength from 10⁻⁵ to 10⁵, learning rate from 10⁻¹² to 10¹². Arrow keys move the cell, Page Up and Page Down by ten." });
    var graph = element("canvas", { class: "portrait-curve", role: "img" }), plots = element("div", { class: "portrait-plots" });
    var readout = element("p", { class: "explore-readout", id: "portrait-readout", "aria-live": "polite" });
    plots.append(map, graph);
    place.append(form, about, plots, legend(), readout);
    var still = document.querySelector(".explore-still");
    if (still) still.hidden = true;

    var picture = element("canvas", { width: COLUMNS, height: ROWS }), ink = picture.getContext("2d");
    var pixels = ink.createImageData(COLUMNS, ROWS), losses = new Float64Array(COLUMNS * ROWS), known = 0, ticket = 0;
    var cell = [40, 44], p, model, lines, plot, drawnCell, longest = 0;

    function read() {
      p = { loss: choice.value };
      SLIDERS.forEach(function (slider) {
        var value = p[slider.id] = slider.value(parseFloat(inputs[slider.id].value)), text = slider.text(value);
        shown[slider.id].textContent = text;
        inputs[slider.id].setAttribute("aria-valuetext", text);
      });
      rows.target.hidden = p.loss !== "mse";
      rows.soft.hidden = p.loss === "mse";
      model = engine.lossOf(p.loss, p.loss === "mse" ? p.target : p.soft);
      lines = { max: [], min: [], closing: Math.log10(engine.closing(p.depth, p.steps, model)) };
      for (var i = 0; i < COLUMNS; i++) {
        var gamma = gammaAt(i), x = Math.log10(gamma);
        lines.max.push([x, Math.log10(engine.etaMax(gamma, p.depth, model))]);
        lines.min.push([x, Math.log10(engine.etaMin(gamma, p.depth, p.steps, model))]);
      }
      about.replaceChildren();
      worded(about, p.depth < 3 ? "At L = 2 the two boundaries grow alike with γ: the wedge closes on no map."
        : "For L = " + p.depth + " and T = " + p.steps + " the wedge closes at γ_c = " + Math.pow(10, lines.closing).toExponential(1)
          + (lines.closing > MAP.x[1] ? ", right of the map." : "."));
    }

    function over(loss) { return (loss - model.floor) / (model.start - model.floor); }

    function update() {
      var mine = ++ticket;
      known = longest = 0;
      read();
      point(cell[0], cell[1], true);
      var grey = rgb(css(place, "--diverged", "#cfcfcf"));
      // Slices short enough that a slider or the cursor never waits; a new move makes this one stop.
      (function slice() {
        if (mine !== ticket) return;
        var began = performance.now();
        while (known < ORDER.length && performance.now() - began < SLICE) fill(ORDER[known++], grey);
        draw();
        longest = Math.max(longest, performance.now() - began);
        if (known < ORDER.length) setTimeout(slice, 0);
      })();
    }

    function fill(entry, grey) {
      var i = entry[0], j = entry[1], size = entry[2];
      var found = engine.run(gammaAt(i), rateAt(j), p.depth, p.steps, model);
      losses[j * COLUMNS + i] = found.loss;
      paint(i, j, size, found.diverged ? grey : colour(1 - Math.log10(Math.max(over(found.loss), DARKEST)) / Math.log10(DARKEST)));
    }

    function paint(i, j, size, shade) {
      for (var y = j; y < Math.min(j + size, ROWS); y++) for (var x = i; x < Math.min(i + size, COLUMNS); x++) {
        var at = 4 * ((ROWS - 1 - y) * COLUMNS + x); // rows of a picture run downwards
        pixels.data[at] = shade[0];
        pixels.data[at + 1] = shade[1];
        pixels.data[at + 2] = shade[2];
        pixels.data[at + 3] = 255;
      }
    }

    function recolour() {
      var grey = rgb(css(place, "--diverged", "#cfcfcf"));
      ORDER.slice(0, known).forEach(function (entry) {
        var loss = losses[entry[1] * COLUMNS + entry[0]];
        if (loss === Infinity) paint(entry[0], entry[1], entry[2], grey);
      });
      draw();
      drawCurve();
    }

    function draw() {
      plot = frame(map, Math.min(440, Math.max(300, map.clientWidth)), MAP);
      var c = plot.context, box = MAP, w = plot.inner.width, h = plot.inner.height;
      ink.putImageData(pixels, 0, 0);
      c.imageSmoothingEnabled = false;
      // Cells are centred on their values: half a cell sticks out of the frame on every side and is cut.
      c.save();
      c.beginPath();
      c.rect(box.left, box.top, w, h);
      c.clip();
      var dx = w / (COLUMNS - 1), dy = h / (ROWS - 1);
      c.drawImage(picture, box.left - dx / 2, box.top - dy / 2, w + dx, h + dy);
      line(plot, lines.max, []);
      line(plot, lines.min, [7, 5]);
      if (lines.closing < box.x[1]) line(plot, [[lines.closing, box.y[0]], [lines.closing, box.y[1]]], [2, 4]);
      note(plot, "γ²", plot.x(-3.2), plot.y(lines.max[14][1]) - 18);
      note(plot, p.depth === 2 ? "γ" : "γ^(" + (p.depth % 2 ? "2/" + p.depth : "1/" + p.depth / 2) + ")", plot.x(3), plot.y(lines.max[64][1]) - 18);
      c.strokeStyle = LINE[1];
      c.lineWidth = 4;
      c.strokeRect(plot.x(Math.log10(gammaAt(cell[0]))) - 5, plot.y(Math.log10(rateAt(cell[1]))) - 5, 10, 10);
      c.strokeStyle = LINE[0];
      c.lineWidth = 2;
      c.strokeRect(plot.x(Math.log10(gammaAt(cell[0]))) - 5, plot.y(Math.log10(rateAt(cell[1]))) - 5, 10, 10);
      c.restore();
      axes(plot, css(place, "--pst-color-text-base", "#222"), 2, 4, "feature strength γ", "learning rate η");
    }

    function point(i, j, always) {
      i = Math.min(Math.max(i, 0), COLUMNS - 1);
      j = Math.min(Math.max(j, 0), ROWS - 1);
      if (!always && i === cell[0] && j === cell[1]) return;
      cell = [i, j];
      var gamma = gammaAt(i), rate = rateAt(j), began = performance.now();
      var found = engine.run(gamma, rate, p.depth, p.steps, model), verdict = engine.verdict(found, gamma, rate, p.depth, model);
      drawnCell = { gamma: gamma, rate: rate, loss: found.loss, verdict: verdict, curve: engine.curve(gamma, rate, p.depth, p.steps, model, 300) };
      drawnCell.milliseconds = performance.now() - began;
      readout.textContent = "γ = " + gamma.toPrecision(3) + ", η = " + rate.toPrecision(3) + ": "
        + (found.diverged ? "" : "final loss " + found.loss.toPrecision(4) + " (at the start " + model.start.toPrecision(4)
          + (model.floor ? ", at best " + model.floor.toPrecision(4) : "") + "), ") + verdict + ".";
      drawCurve();
      if (!always) draw();
    }

    function drawCurve() {
      var box = { x: [0, Math.log10(p.steps)], y: [-9, 3], left: 50, right: 12, top: 12, bottom: 40 };
      var c, at = frame(graph, 240, box), text = css(place, "--pst-color-text-base", "#222"), losses = drawnCell.curve.losses;
      c = at.context;
      c.save();
      c.beginPath();
      c.rect(box.left, box.top, at.inner.width, at.inner.height);
      c.clip();
      c.strokeStyle = document.documentElement.dataset.theme === "dark" ? "#6cb4ee" : "#0b6fa8";
      c.lineWidth = 2;
      c.beginPath();
      drawnCell.curve.times.forEach(function (t, k) {
        var y = Math.min(Math.max(Math.log10(Math.max(over(losses[k]), 1e-30)), -20), 20);
        if (t > 0) c.lineTo(at.x(Math.log10(t)), at.y(y !== y ? 20 : y));
      });
      c.stroke();
      c.restore();
      axes(at, text, 1, 3, "steps", model.floor ? "excess loss / initial" : "loss / initial");
      graph.setAttribute("aria-label", "Loss of this cell over the steps, " + (drawnCell.verdict === "diverged" ? "which diverges"
        : "which ends at " + over(drawnCell.loss).toPrecision(3) + " of where it began") + ".");
    }

    function under(event) {
      var area = map.getBoundingClientRect();
      var x = (event.clientX - area.left - MAP.left) / plot.inner.width, y = 1 - (event.clientY - area.top - MAP.top) / plot.inner.height;
      if (x >= 0 && x <= 1 && y >= 0 && y <= 1) point(Math.round(x * (COLUMNS - 1)), Math.round(y * (ROWS - 1)));
    }

    var MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 10], PageDown: [0, -10], Home: [-COLUMNS, 0], End: [COLUMNS, 0] };
    map.addEventListener("keydown", function (event) {
      var move = MOVES[event.key];
      if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation(); // the theme turns pages with arrow keys
      point(cell[0] + move[0], cell[1] + move[1]);
    });
    map.addEventListener("pointermove", under);
    map.addEventListener("pointerdown", under);
    form.addEventListener("input", update);
    window.addEventListener("resize", function () { draw(); drawCurve(); });
    new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    engine.state = function () {
      return { parameters: p, cell: drawnCell, known: known, done: known === ORDER.length, losses: losses, longest: longest };
    };
    engine.cells = { columns: COLUMNS, rows: ROWS };
    update();
  }

  function legend() {
    var list = element("ul", { class: "portrait-legend", "aria-label": "Legend" });
    [
      ["scale", "background: linear-gradient(to right, " + STOPS.join(", ") + ")", "final over initial loss, 10⁻⁶ to 1"],
      ["", "background: var(--diverged)", "diverged"],
      ["line", "", "η_max: above it the minimum repels; yellow there is unstable, but finite"],
      ["line", "border-top-style: dashed", "η_min: below it T steps are too few"],
      ["line", "border-top-style: dotted", "γ_c: where the two meet"],
    ].forEach(function (entry) {
      var item = element("li");
      item.append(element("span", { class: entry[0], style: entry[1], "aria-hidden": "true" }));
      item.append(worded(element("span"), entry[2]));
      list.append(item);
    });
    return list;
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
