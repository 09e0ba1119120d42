"""The plot of a sweep: a panel a quantity, a series for each combination of the other axes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lazyrich.plots import swept


def row(measured, predicted=1.0):
    return {"measured": measured, "low": measured - 0.1, "high": measured + 0.1, "predicted": predicted}


def drawn(axes, pairs):
    fig = swept.figure(axes, {"custom.x": pairs})
    plt.close(fig)
    return fig.axes[0]


def test_the_longest_numeric_axis_is_the_abscissa_and_others_are_series():
    axes = {"model": ["mlp", "cnn"], "gamma": [1e-3, 1.0, 10.0]}
    pairs = [({"model": m, "gamma": g}, row(g)) for m in axes["model"] for g in reversed(axes["gamma"])]
    pane = drawn(axes, pairs)
    assert pane.get_xlabel() == "gamma"
    assert pane.get_xscale() == "log"
    assert [text.get_text() for text in pane.get_legend().get_texts()] == ["model = mlp", "model = cnn"]
    np.testing.assert_allclose(pane.containers[0][0].get_xdata(orig=False), axes["gamma"])


def test_names_get_places_and_a_bound_is_no_curve():
    axes = {"model": ["mlp", "cnn"]}
    pane = drawn(axes, [({"model": m}, row(k, [0, 1])) for k, m in enumerate(axes["model"])])
    assert [label.get_text() for label in pane.get_xticklabels()] == ["mlp", "cnn"]
    assert pane.get_legend() is None
    assert [line.get_linestyle() for line in pane.lines].count("--") == 0


def test_a_diverged_point_leaves_a_gap():
    pairs = [({"beta": b}, row(b if b < 1 else np.inf)) for b in (0.5, 0.75, 1.0)]
    pane = drawn({"beta": [0.5, 0.75, 1.0]}, pairs)
    assert np.isnan(pane.containers[0][0].get_ydata()).tolist() == [False, False, True]


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="nothing to draw: 1 axes, 0 quantities"):
        swept.figure({"beta": [1]}, {})
