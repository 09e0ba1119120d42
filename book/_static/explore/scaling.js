// The page "Explore scaling laws": sliders, four plots, and a frontier that fills in.
(function () {
  "use strict";

  var FIRST = 0.1, LAST = 1e8, NODES = 384, COARSE = 192, engine = window.lazyrichScaling;
  var COMPUTE = [];
  for (var c = 4; c <= 8.001; c += 0.25) COMPUTE.push(Math.pow(10, c));

  function element(tag, attributes, text) {
    var made = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    if (text) made.textContent = text;
    return made;
  }

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function isDecade(value) { return value > 0 && Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9; }

  function power(value) {
    var digits = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
    return "10" + String(Math.round(Math.log10(value))).split("").map(function (d) { return digits[d]; }).join("");
  }

  // Slider positions to values: gamma and width on a logarithm, with "none" at one end.
  var SLIDERS = [
    { id: "alpha", label: "capacity α", min: 1.1, max: 2, step: 0.05, start: 1.5, value: Number, text: function (v) { return v.toFixed(2); } },
    { id: "beta", label: "source β", min: 0.2, max: 2, step: 0.05, start: 0.5, value: Number, text: function (v) { return v.toFixed(2); } },
    { id: "gamma", label: "feature strength γ", min: -2.25, max: 2, step: 0.25, start: 0,
      value: function (v) { return v < -2.1 ? 0 : Math.pow(10, v); }, text: function (v) { return v ? v.toPrecision(3) : "0 (lazy)"; } },
    { id: "width", label: "width N", min: 1, max: 4.25, step: 0.25, start: 4.25,
      value: function (v) { return v > 4.1 ? null : Math.round(Math.pow(10, v)); }, text: function (v) { return v ? String(v) : "∞"; } },
  ];

  function start() {
    var place = document.getElementById("explore-scaling");
    if (!place || !window.uPlot) return;
    var form = element("form", { class: "explore-controls", "aria-label": "Parameters of the model" }), inputs = {}, shown = {};
    SLIDERS.forEach(function (slider) {
      var id = "scaling-" + slider.id, row = element("div");
      row.append(element("label", { for: id }, slider.label));
      inputs[slider.id] = element("input", { type: "range", id: id, min: slider.min, max: slider.max, step: slider.step, value: slider.start });
      shown[slider.id] = element("output", { for: id });
      row.append(inputs[slider.id], shown[slider.id]);
      form.append(row);
    });
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    var status = element("p", { class: "explore-readout", "aria-live": "polite" });
    var boxes = {}, grid = element("div", { class: "explore-plots" });
    ["loss", "growth", "exponent", "frontier"].forEach(function (name) { boxes[name] = element("div"); grid.append(boxes[name]); });
    place.append(form, status, grid);
    var still = document.querySelector(".explore-still");
    if (still) still.hidden = true;

    var plots = {}, pending = 0, state = {};

    function parameters() {
      var found = {};
      SLIDERS.forEach(function (slider) {
        found[slider.id] = slider.value(parseFloat(inputs[slider.id].value));
        shown[slider.id].textContent = slider.text(found[slider.id]);
        inputs[slider.id].setAttribute("aria-valuetext", slider.text(found[slider.id]));
      });
      return found;
    }

    function draw(name, title, x, ys, labels, logY, xLabel) {
      var ink = css("--pst-color-text-base") || "#222", line = css("--pst-color-border") || "#ccc";
      var colours = document.documentElement.dataset.theme === "dark" ? ["#6cb4ee", "#f2a35e", "#b0b0b0"] : ["#0b6fa8", "#b3530a", "#666"];
      var decades = function (u, splits) { return splits.map(function (v) { return isDecade(v) ? v : null; }); };
      var logAxis = { stroke: ink, grid: { stroke: line, width: 1, filter: decades }, ticks: { stroke: line, filter: decades } };
      var axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
      var powers = function (u, values) { return values.map(function (v) { return isDecade(v) ? power(v) : ""; }); };
      if (plots[name]) plots[name].destroy();
      plots[name] = new uPlot({
        title: title, width: Math.max(boxes[name].clientWidth, 240), height: 260,
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false, distr: 3 }, y: logY ? { distr: 3 } : {} },
        axes: [
          Object.assign({ label: xLabel, values: powers }, logAxis),
          logY ? Object.assign({ size: 60, values: powers }, logAxis) : Object.assign({ size: 60 }, axis),
        ],
        series: [{ label: xLabel, value: number }].concat(labels.map(function (label, i) {
          return { label: label, stroke: colours[i % 3], width: 2, dash: i ? [6, 4] : undefined, value: number, spanGaps: true };
        })),
      }, [x].concat(ys), boxes[name]);
    }

    function number(u, v) { return v === null || v === undefined ? "–" : Number(v).toPrecision(4); }

    function keep(curve) {
      var from = curve.times.findIndex(function (t) { return t >= FIRST; });
      return { times: curve.times.slice(from), loss: curve.loss.slice(from), growth: curve.growth.slice(from) };
    }

    function measure(spectrum, width, nodes) {
      return width ? engine.finiteWidth(spectrum, width, nodes) : engine.infiniteWidth(spectrum);
    }

    function update() {
      var began = performance.now(), p = parameters(), spectrum = engine.powerLaw(p.alpha, p.beta);
      var here = keep(engine.curve(measure(spectrum, p.width, NODES), p.gamma, FIRST, LAST));
      var exponent = engine.slope(here.times, here.loss).map(function (v) { return -v; });
      var chi = p.gamma && p.beta < 1 ? 2 * p.beta / (1 + p.beta) : p.beta;
      state = { parameters: p, curve: here, exponent: exponent, milliseconds: performance.now() - began };
      draw("loss", "Loss", here.times, [here.loss], ["loss"], true, "time t");
      draw("growth", "Growth of the kernel", here.times, [here.growth], ["κ"], true, "time t");
      draw("exponent", "Local exponent of the loss", here.times, [exponent, here.times.map(function () { return chi; })], ["measured", "law at N = ∞"], false, "time t");
      status.textContent = "At t = 10⁸ the loss is " + here.loss[here.loss.length - 1].toPrecision(4) + ", the kernel has grown by "
        + here.growth[here.growth.length - 1].toPrecision(4) + "; the law at infinite width is t to the −" + chi.toFixed(3) + ".";
      state.drawn = performance.now() - began;
      frontier(spectrum, p, ++pending);
    }

    // Loss at each compute for growing widths, one width at a time so that sliders stay free.
    function frontier(spectrum, p, ticket) {
      var best = COMPUTE.map(function () { return null; }), where = COMPUTE.map(function () { return null; }), j = 0;
      state.frontier = null;
      function next() {
        if (ticket !== pending) return;
        var width = Math.pow(10, 0.5 + j / 4);
        var curve = engine.curve(engine.finiteWidth(spectrum, width, COARSE), p.gamma, FIRST, COMPUTE[COMPUTE.length - 1] / width);
        COMPUTE.forEach(function (compute, i) {
          var t = compute / width;
          if (t < 1) return;
          var loss = engine.between(curve.times, curve.loss, t);
          if (best[i] === null || loss < best[i]) { best[i] = loss; where[i] = width; }
        });
        if (++j <= 16) { setTimeout(next, 0); return; }
        state.frontier = { compute: COMPUTE, loss: best, width: where };
        var slope = -Math.log(best[best.length - 1] / best[4]) / Math.log(COMPUTE[COMPUTE.length - 1] / COMPUTE[4]);
        draw("frontier", "Best loss for the compute (exponent " + slope.toFixed(3) + ")", COMPUTE, [best], ["best loss"], true, "compute C = Nt");
      }
      setTimeout(next, 0);
    }

    form.addEventListener("input", update);
    window.addEventListener("resize", function () {
      Object.keys(plots).forEach(function (name) { plots[name].setSize({ width: Math.max(boxes[name].clientWidth, 240), height: 260 }); });
    });
    new MutationObserver(update).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    window.lazyrichScaling.state = function () { return state; };
    update();
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
