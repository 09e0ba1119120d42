// The deep linear net on one example in the browser: f = (aᴸ − 1)/γ from a = 1, gradient descent in difference
// form, step for step as lazyrich.theory.deep_linear.portrait, which the tests compare it with; and its boundaries.
(function () {
  "use strict";

  var FRACTION = 0.9, NODES = 64, quadrature = gaussLegendre(NODES);

  // What a loss is to the dynamics: target is y, or the soft label p; start and floor are the loss at f = 0 and at best.
  function lossOf(kind, target) {
    var model = kind === "mse" ? {
      value: function (f) { return (f - target) * (f - target) / 2; },
      slope: function (f) { return f - target; },
      minimum: target, curvature: 1,
    } : {
      value: function (f) { return Math.max(0, f) + Math.log1p(Math.exp(-Math.abs(f))) - target * f; },
      slope: function (f) { return 1 / (1 + Math.exp(-f)) - target; },
      minimum: Math.log(target / (1 - target)), curvature: target * (1 - target),
    };
    model.mse = kind === "mse";
    model.target = target;
    model.start = model.value(0);
    model.floor = model.value(model.minimum);
    model.enough = model.value(FRACTION * model.minimum);
    return model;
  }

  // One cell after `steps` steps: {loss, worst, diverged}. `seen(t, f)` is told of every step, if given.
  function run(gamma, rate, depth, steps, model, seen) {
    var inverse = 1 / gamma, pace = rate / gamma, delta = 0, low = 0, high = 0, f = 0;
    var mse = model.mse, target = model.target, saved = NaN, savedAt = 0, next = 1;
    for (var t = 0; t <= steps; t++) {
      var a = 1 + delta, series = 1, power = 1;
      for (var k = 1; k < depth; k++) { series = 1 + a * series; power *= a; }
      f = delta * series * inverse;
      if (seen) seen(t, f);
      if (f < low) low = f;
      if (f > high) high = f;
      if (t === steps || f - f !== 0) break; // a weight that is not finite never comes back
      delta -= pace * ((mse ? f - target : 1 / (1 + Math.exp(-f)) - target) * power);
      if (seen) continue;
      // The weight repeats itself exactly (Brent's search): whole periods change nothing.
      if (delta === saved) {
        t = steps - 1 - (steps - 1 - t) % (t + 1 - savedAt);
        saved = NaN;
        next = Infinity;
      } else if (t + 1 === next) {
        saved = delta;
        savedAt = next;
        next *= 2;
      }
    }
    var loss = model.value(f), worst = Math.max(model.value(low), model.value(high));
    var diverged = !(isFinite(loss) && isFinite(worst));
    return { loss: diverged ? Infinity : loss, worst: isFinite(worst) ? worst : Infinity, diverged: diverged };
  }

  // The loss along a run, at about `points` steps evenly spaced on a logarithm.
  function curve(gamma, rate, depth, steps, model, points) {
    var times = [], losses = [], mark = 1;
    run(gamma, rate, depth, steps, model, function (t, f) {
      if (t < mark && t !== steps) return;
      times.push(t);
      losses.push(model.value(f));
      mark = Math.max(t + 1, t * Math.pow(steps, 1 / points));
    });
    return { times: times, losses: losses };
  }

  // 2 / (Hessian at the minimum).
  function etaMax(gamma, depth, model) {
    return 2 * gamma * gamma / (depth * model.curvature * Math.pow(1 + gamma * model.minimum, 2 - 2 / depth));
  }

  // ηt at which the flow reaches the fraction 0.9 of the minimum: (γ²/L) ∫ (1 + γf)^{2/L − 2} df / (−slope(f)).
  function hittingTime(gamma, depth, model) {
    var end = model.minimum, power = 2 / depth - 2, half = FRACTION / 2;
    var early = integral(function (v) { // 1 + γf = eᵛ
      return Math.exp(v * (1 + power)) / (gamma * -model.slope(Math.expm1(v) / gamma));
    }, 0, Math.log1p(half * gamma * end));
    var late = integral(function (w) { // 1 − f/f* = e⁻ʷ
      var f = -end * Math.expm1(-w);
      return Math.pow(1 + gamma * f, power) * end * Math.exp(-w) / -model.slope(f);
    }, -Math.log1p(-half), -Math.log1p(-FRACTION));
    return gamma * gamma / depth * (early + late);
  }

  function etaMin(gamma, depth, steps, model) { return hittingTime(gamma, depth, model) / steps; }

  // Where the rich limits of the two meet; none on any map at L = 2.
  function closing(depth, steps, model) {
    if (depth < 3) return Infinity;
    var meets = 2 * (depth - 2) * steps / depth * -model.slope(0) / model.curvature * Math.pow(model.minimum, 2 / depth - 2);
    return Math.pow(meets, depth / (depth - 2));
  }

  // "unstable": bounded, but above the rate at which the minimum attracts.
  function verdict(result, gamma, rate, depth, model) {
    if (result.diverged) return "diverged";
    if (result.loss <= model.enough) return "trained";
    return rate > etaMax(gamma, depth, model) ? "unstable" : "too slow";
  }

  function integral(f, low, high) {
    var middle = (low + high) / 2, radius = (high - low) / 2, sum = 0;
    quadrature.forEach(function (node) { sum += node[1] * f(middle + radius * node[0]); });
    return radius * sum;
  }

  // Points and weights on [−1, 1], by Newton's method on the Legendre polynomial.
  function gaussLegendre(n) {
    var found = [];
    for (var i = 0; i < n; i++) {
      var x = Math.cos(Math.PI * (i + 0.75) / (n + 0.5)), slope = 1;
      for (var round = 0; round < 8; round++) {
        var before = 1, here = x;
        for (var k = 2; k <= n; k++) {
          var after = ((2 * k - 1) * x * here - (k - 1) * before) / k;
          before = here;
          here = after;
        }
        slope = n * (x * here - before) / (x * x - 1);
        x -= here / slope;
      }
      found.push([x, 2 / ((1 - x * x) * slope * slope)]);
    }
    return found;
  }

  window.lazyrichPortrait = {
    lossOf: lossOf, run: run, curve: curve, etaMax: etaMax, etaMin: etaMin, closing: closing, verdict: verdict,
  };
})();
