// The solvable model of scaling laws in the browser: the same equations on the same grids as the Python
// package lazyrich.theory.scaling (spectrum.py, reduction.py, contour.py), which the tests compare it with.
(function () {
  "use strict";

  var HEAD = 300, PANEL = 2, SMALLEST = 1e-30, HEIGHT = 0.8, STEPS = 60;
  // Gauss-Legendre points and weights of order 16 on [-1, 1], positive half.
  var POINT = [0.09501250983763744, 0.2816035507792589, 0.45801677765722737, 0.6178762444026438,
    0.7554044083550030, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499];
  var WEIGHT = [0.1894506104550685, 0.18260341504492358, 0.16915651939500254, 0.14959598881657674,
    0.12462897125553388, 0.09515851168249279, 0.062253523938647894, 0.027152459411754095];

  // Sums over modes as sums over nodes: eigenvalue, number of modes, share of the initial loss.
  function powerLaw(alpha, beta) {
    var value = [], count = [], power = [], k;
    function push(k, n) {
      value.push(Math.pow(k, -alpha));
      count.push(n);
      power.push(n * Math.pow(k, -alpha * beta - 1));
    }
    for (k = 1; k <= HEAD; k++) push(k, 1);
    var end = Math.pow(SMALLEST, -1 / alpha), start = Math.log(HEAD + 0.5), stop = Math.log(end);
    var panels = 1 + Math.floor(alpha * Math.log(end / HEAD) / PANEL);
    for (var i = 0; i < panels; i++) {
      var left = start + (stop - start) * i / panels, half = (stop - start) / panels / 2;
      for (var j = -8; j < 8; j++) {
        var at = j < 0 ? -POINT[-j - 1] : POINT[j], w = j < 0 ? WEIGHT[-j - 1] : WEIGHT[j];
        k = Math.exp(left + half * (1 + at));
        push(k, half * w * k);
      }
    }
    value.push(SMALLEST);
    count.push(Math.pow(end, 1 - alpha) / (alpha - 1) / SMALLEST);
    power.push(Math.pow(end, -alpha * beta) / (alpha * beta));
    return { value: value, count: count, power: power };
  }

  // A root of f in [a, b] by Brent's method, to relative accuracy eps.
  function root(f, a, b, eps) {
    var fa = f(a), fb = f(b), c = a, fc = fa, d = b - a, e = d;
    for (var i = 0; i < 200; i++) {
      if (fb > 0 === fc > 0) { c = a; fc = fa; d = e = b - a; }
      if (Math.abs(fc) < Math.abs(fb)) { a = b; b = c; c = a; fa = fb; fb = fc; fc = fa; }
      var tol = 2 * eps * Math.abs(b), m = (c - b) / 2;
      if (Math.abs(m) <= tol || fb === 0) return b;
      if (Math.abs(e) >= tol && Math.abs(fa) > Math.abs(fb)) {
        var s = fb / fa, p, q, r;
        if (a === c) { p = 2 * m * s; q = 1 - s; } else {
          q = fa / fc; r = fb / fc;
          p = s * (2 * m * q * (q - r) - (b - a) * (r - 1));
          q = (q - 1) * (r - 1) * (s - 1);
        }
        if (p > 0) q = -q; else p = -p;
        if (2 * p < Math.min(3 * m * q - Math.abs(tol * q), Math.abs(e * q))) { e = d; d = p / q; } else { d = m; e = m; }
      } else { d = m; e = m; }
      a = b; fa = fb;
      b += Math.abs(d) > tol ? d : (m > 0 ? tol : -tol);
      fb = f(b);
    }
    return b;
  }

  // z(kappa) and its derivative on the real line.
  function argument(spectrum, width, kappa) {
    var sum = 0, square = 0;
    for (var i = 0; i < spectrum.value.length; i++) {
      var share = spectrum.value[i] / (spectrum.value[i] + kappa), weighted = spectrum.count[i] * share;
      sum += weighted;
      square += weighted * share;
    }
    return [kappa * (1 - sum / width), 1 - square / width];
  }

  function ridge(spectrum, width) {
    var trace = 0;
    for (var i = 0; i < spectrum.value.length; i++) trace += spectrum.value[i] * spectrum.count[i];
    var excess = function (log) { var k = Math.exp(log); return argument(spectrum, width, k)[0] / k; };
    return Math.exp(root(excess, Math.log(SMALLEST) - 60, Math.log(trace / width) + 1e-9, 1e-16));
  }

  function floor(spectrum, width) {
    var kappa = ridge(spectrum, width), sum = 0;
    for (var i = 0; i < spectrum.value.length; i++) sum += spectrum.power[i] * kappa / (spectrum.value[i] + kappa);
    return sum;
  }

  // The kernel as seen by the loss: nodes x and weights of the measure, complex on a contour at finite width.
  function infiniteWidth(spectrum) {
    var n = spectrum.value.length, zero = new Float64Array(n), mass = new Float64Array(n);
    for (var i = 0; i < n; i++) mass[i] = spectrum.value[i] * spectrum.power[i];
    return { re: Float64Array.from(spectrum.value), im: zero, massRe: mass, massIm: zero, floor: 0, real: true };
  }

  function finiteWidth(spectrum, width, nodes) {
    var top = spectrum.value[0], kappa0 = ridge(spectrum, width);
    var turnTop = top * (1 + Math.exp(root(function (log) {
      return argument(spectrum, width, -top * (1 + Math.exp(log)))[1];
    }, -20, 20, 1e-16)));
    var upper = -argument(spectrum, width, -turnTop)[0], bottom = Math.log(kappa0);
    var turning = Math.exp(root(function (log) {
      return argument(spectrum, width, Math.exp(log))[1];
    }, bottom - 60, bottom, 1e-16));
    var lower = -argument(spectrum, width, turning)[0];
    var half = Math.log(upper / lower) / 2, middle = Math.log(upper * lower) / 2, long = Math.hypot(half, HEIGHT);
    var left = Math.exp(middle - long);
    var kr = root(function (kappa) { return argument(spectrum, width, kappa)[0] + left; }, turning, kappa0, 1e-16), ki = 0;
    var m = nodes / 2, re = new Float64Array(m), im = new Float64Array(m);
    var massRe = new Float64Array(m), massIm = new Float64Array(m);
    var s = evaluate(kr, ki);

    function evaluate(kr, ki) {
      // z and dz/dkappa at a complex kappa
      var sr = 0, si = 0, qr = 0, qi = 0;
      for (var i = 0; i < spectrum.value.length; i++) {
        var v = spectrum.value[i], a = v + kr, norm = a * a + ki * ki, hr = v * a / norm, hi = -v * ki / norm, c = spectrum.count[i];
        sr += c * hr; si += c * hi;
        qr += c * (hr * hr - hi * hi); qi += 2 * c * hr * hi;
      }
      var fr = 1 - sr / width, fi = -si / width;
      return [kr * fr - ki * fi, kr * fi + ki * fr, 1 - qr / width, -qi / width];
    }

    for (var j = 0; j < m; j++) {
      var angle = Math.PI - (j + 0.5) * 2 * Math.PI / nodes, cos = Math.cos(angle), sin = Math.sin(angle);
      var size = Math.exp(middle + long * cos), xr = size * Math.cos(HEIGHT * sin), xi = size * Math.sin(HEIGHT * sin);
      for (var n = 0; n < 60; n++) {  // Newton's method for z(kappa) = -x
        var dr = -xr - s[0], di = -xi - s[1], d2 = s[2] * s[2] + s[3] * s[3];
        var tr = (dr * s[2] + di * s[3]) / d2, ti = (di * s[2] - dr * s[3]) / d2;
        if (Math.hypot(tr, ti) < 1e-13 * Math.hypot(kr, ki)) break;
        kr += tr; ki += ti;
        s = evaluate(kr, ki);
      }
      var wr = -long * sin, wi = HEIGHT * cos;
      var vr = xr * wr - xi * wi, vi = xr * wi + xi * wr;  // dx/dangle
      var ar = -2 * vi / nodes, ai = 2 * vr / nodes;       // -2 (dx/dangle) / (i nodes)
      var mr = 0, mi = 0;
      for (var i = 0; i < spectrum.value.length; i++) {
        var b = spectrum.value[i] + kr, q = b * b + ki * ki, w = spectrum.value[i] * spectrum.power[i];
        mr += w * b / q; mi -= w * ki / q;
      }
      re[j] = xr; im[j] = xi;
      massRe[j] = ar * mr - ai * mi; massIm[j] = ar * mi + ai * mr;
    }
    return { re: re, im: im, massRe: massRe, massIm: massIm, floor: floor(spectrum, width), real: false };
  }

  // exp(-y) and the weights of a linear source over a step, for complex y: [decay, old, new], each re, im.
  function weights(yr, yi, out) {
    var e = Math.exp(-yr), er = e * Math.cos(yi), ei = -e * Math.sin(yi), ar, ai, br, bi;
    if (yr * yr + yi * yi < 1e-10) {
      ar = 1 - yr / 2; ai = -yi / 2; br = 0.5 - yr / 6; bi = -yi / 6;
    } else {
      var q = yr * yr + yi * yi, nr, ni;
      // 1 - exp(-y) without cancellation for small y
      if (yi === 0) { nr = -Math.expm1(-yr); ni = 0; } else {
        var half = Math.sin(yi / 2);
        nr = -Math.expm1(-yr) + 2 * e * half * half; ni = -ei;
      }
      ar = (nr * yr + ni * yi) / q; ai = (ni * yr - nr * yi) / q;
      br = ((1 - ar) * yr - ai * yi) / q; bi = (-ai * yr - (1 - ar) * yi) / q;
    }
    out[0] = er; out[1] = ei; out[2] = ar - br; out[3] = ai - bi; out[4] = br; out[5] = bi;
  }

  // The same at infinite width, where everything is real: a third of the time.
  function realCurve(measure, gamma, first, last) {
    var x = measure.re, mass = measure.massRe, n = x.length, inner = new Float64Array(n), i, j, total = 0;
    for (i = 0; i < n; i++) total += mass[i];
    var ratio = Math.pow(10, 1 / STEPS), tau = Math.min(1e-2 / Math.sqrt(1 + gamma * total), first / 2);
    var t = 0, s = 1, at = 0, start = 0, fixed = new Float64Array(n), fresh = new Float64Array(n);
    for (i = 0; i < n; i++) start += mass[i] / x[i];
    var times = [0], losses = [measure.floor + start], growth = [1];
    for (var k = 0; t <= last; k++) {
      var step = k === 0 ? tau : at * (ratio - 1), p = 0, q = 0, r = 0;
      for (i = 0; i < n; i++) {
        var y = x[i] * step, lost = -Math.expm1(-y);
        var a = y < 1e-5 ? 1 - y / 2 : lost / y, b = y < 1e-5 ? 0.5 - y / 6 : (1 - a) / y, m = mass[i];
        var f = (1 - lost) * inner[i] + (a - b) * step * s, g = b * step;
        fixed[i] = f; fresh[i] = g;
        p += m * f * f; q += m * g * f; r += m * g * g;
      }
      var end = s;
      for (j = 0; j < 100; j++) {
        var previous = end;
        end = 1 / Math.sqrt(1 + gamma * Math.max(p + 2 * q * end + r * end * end, 0));
        if (Math.abs(end - previous) < 1e-14) break;
      }
      var sum = measure.floor;
      for (i = 0; i < n; i++) {
        inner[i] = fixed[i] + fresh[i] * end;
        var u = 1 - x[i] * inner[i] / end;
        sum += mass[i] * u * u / x[i];
      }
      t += step * (s * s + s * end + end * end) / 3;
      s = end;
      at += step;
      times.push(t); growth.push(1 / (s * s)); losses.push(sum);
    }
    return { times: times, loss: losses, growth: growth };
  }

  // The learning curve: loss and kernel growth on the solver's own grid of times, up to `last`.
  function curve(measure, gamma, first, last) {
    if (measure.real) return realCurve(measure, gamma, first, last);
    var n = measure.re.length, inner = new Float64Array(n), innerI = new Float64Array(n), total = 0, i, j;
    for (i = 0; i < n; i++) total += measure.massRe[i];
    var ratio = Math.pow(10, 1 / STEPS), tau = Math.min(1e-2 / Math.sqrt(1 + gamma * total), first / 2);
    var t = 0, s = 1, at = 0, times = [0], losses = [loss(1)], growth = [1], w = new Float64Array(6);
    var fr = new Float64Array(n), fi = new Float64Array(n), newR = new Float64Array(n), newI = new Float64Array(n);

    function loss(kappa) {
      // floor + integral of (1 - x h)^2 / x with h = sqrt(kappa) I
      var root = Math.sqrt(kappa), sum = measure.floor;
      for (var i = 0; i < n; i++) {
        var xr = measure.re[i], xi = measure.im[i], hr = root * inner[i], hi = root * innerI[i];
        var ur = 1 - (xr * hr - xi * hi), ui = -(xr * hi + xi * hr), sr = ur * ur - ui * ui, si = 2 * ur * ui;
        var q = xr * xr + xi * xi, vr = (sr * xr + si * xi) / q, vi = (si * xr - sr * xi) / q;
        sum += measure.massRe[i] * vr - measure.massIm[i] * vi;
      }
      return sum;
    }

    for (var k = 0; t <= last; k++) {
      var step = k === 0 ? tau : at * (ratio - 1), p = 0, q = 0, r = 0;
      for (i = 0; i < n; i++) {
        weights(measure.re[i] * step, measure.im[i] * step, w);
        var oldR = w[2] * step * s, oldI = w[3] * step * s, nr = w[4] * step, ni = w[5] * step;
        var a = w[0] * inner[i] - w[1] * innerI[i] + oldR, b = w[0] * innerI[i] + w[1] * inner[i] + oldI;
        var mr = measure.massRe[i], mi = measure.massIm[i];
        fr[i] = a; fi[i] = b; newR[i] = nr; newI[i] = ni;
        p += mr * (a * a - b * b) - mi * 2 * a * b;
        q += mr * (nr * a - ni * b) - mi * (nr * b + ni * a);
        r += mr * (nr * nr - ni * ni) - mi * 2 * nr * ni;
      }
      var end = s;
      for (j = 0; j < 100; j++) {
        var previous = end;
        end = 1 / Math.sqrt(1 + gamma * Math.max(p + 2 * q * end + r * end * end, 0));
        if (Math.abs(end - previous) < 1e-14) break;
      }
      for (i = 0; i < n; i++) { inner[i] = fr[i] + newR[i] * end; innerI[i] = fi[i] + newI[i] * end; }
      t += step * (s * s + s * end + end * end) / 3;
      s = end;
      at += step;
      times.push(t);
      growth.push(1 / (s * s));
      losses.push(loss(growth[growth.length - 1]));
    }
    return { times: times, loss: losses, growth: growth };
  }

  // Slope of log y on log x between neighbours, at every point.
  function slope(x, y) {
    return x.map(function (_, i) {
      var a = Math.max(i - 1, 0), b = Math.min(i + 1, x.length - 1);
      return Math.log(y[b] / y[a]) / Math.log(x[b] / x[a]);
    });
  }

  // y at x = at, a line in log-log between neighbours.
  function between(x, y, at) {
    var low = 1, high = x.length - 1;
    while (high - low > 1) { var mid = (low + high) >> 1; if (x[mid] <= at) low = mid; else high = mid; }
    var share = Math.log(at / x[low]) / Math.log(x[high] / x[low]);
    return Math.exp(Math.log(y[low]) + share * Math.log(y[high] / y[low]));
  }

  window.lazyrichScaling = {
    powerLaw: powerLaw, floor: floor, infiniteWidth: infiniteWidth, finiteWidth: finiteWidth, curve: curve,
    slope: slope, between: between,
  };
})();
