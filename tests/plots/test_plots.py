"""Figures, tested by their data: what is drawn, in which colours, and what is left behind."""

import csv
import io
from base64 import b64decode
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba
from PIL import Image

from lazyrich import plots
from lazyrich.fits import Interval
from lazyrich.plots import display
from lazyrich.plots.traced import trace

ALT = "Loss against time: it falls as t to the minus 0.50."

# Machado, Oliveira and Fernandes (2009), full severity, for linear RGB.
COLOUR_BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return linear(colour) @ [0.2126, 0.7152, 0.0722]


def lab(rgb):
    """CIE L*a*b* of linear RGB: distances of about 10 and more are plainly seen."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.clip(to_xyz @ rgb / [0.9505, 1, 1.089], 1e-4, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.fixture(autouse=True)
def look():
    mpl.use("agg")
    with plots.style():
        yield
    plt.close("all")


@pytest.mark.parametrize(
    "chosen", [plots.colours(6), plots.colours(9, ordered=True)], ids=["series", "ordered"]
)
def test_colours_stand_out_from_white(chosen):
    assert min(1.05 / (luminance(colour) + 0.05) for colour in chosen) >= 3


@pytest.mark.parametrize("kind", COLOUR_BLINDNESS)
def test_series_differ_under_colour_blindness(kind):
    seen = [lab(np.clip(np.array(COLOUR_BLINDNESS[kind]) @ linear(c), 0, 1)) for c in plots.colours(6)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


def test_ordered_colours_grow_lighter():
    shades = [luminance(colour) for colour in plots.colours(7, ordered=True)]
    assert (np.diff(shades) > 0).all()
    assert len(plots.colours(1, ordered=True)) == 1


@pytest.mark.parametrize(("n", "ordered"), [(0, True), (0, False), (7, False)])
def test_too_few_or_too_many_colours_are_refused(n, ordered):
    with pytest.raises(ValueError, match=f"n must be .* got {n}"):
        plots.colours(n, ordered)


def test_style_ends_with_its_block():
    before = mpl.rcParams["axes.spines.top"]
    mpl.rcParams["axes.spines.top"] = True
    with plots.style():
        assert not mpl.rcParams["axes.spines.top"]
    assert mpl.rcParams["axes.spines.top"]
    mpl.rcParams["axes.spines.top"] = before


def test_theory_is_dashed_black_over_the_measured():
    _, (ax,) = plots.panels(1)
    points = plots.measured(ax, [1, 2], [3, 4], label="SGD")
    line = plots.theory(ax, [1, 2], [3, 4], label="theory")
    assert (to_rgba(line.get_color()), line.get_linestyle()) == ((0, 0, 0, 1), "--")
    assert line.get_zorder() > points.lines[0].get_zorder()


def test_measured_series_differ_in_marker_and_line_too():
    _, (ax,) = plots.panels(1)
    lines = [plots.measured(ax, [1, 2], [3, 4], index=i, line=True).lines[0] for i in range(6)]
    assert len({line.get_marker() for line in lines}) == 6
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 6
    assert len({line.get_color() for line in lines}) == 6


def test_intervals_are_drawn_and_what_is_not_finite_is_left_out():
    _, (ax,) = plots.panels(1)
    interval = Interval(
        np.array([1.0, np.inf, 3.0]), np.array([0.5, np.nan, -np.inf]), np.array([1.5, np.nan, np.inf])
    )
    drawn = plots.measured(ax, [1, 2, 3], interval, index=1)
    assert np.array_equal(drawn.lines[0].get_ydata(), [1, np.nan, 3], equal_nan=True)
    (bars,) = drawn.lines[2]
    assert np.allclose(bars.get_segments()[0], [[1, 0.5], [1, 1.5]])
    plots.theory(ax, [1, 2], [np.nan, np.inf])
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="low and high"):
        plots.measured(ax, [1], [1], low=[0])


def test_a_value_outside_its_interval_by_rounding_is_drawn():
    _, (ax,) = plots.panels(1)
    plots.measured(ax, [1.0], [1.0], low=[1.0 + 1e-16], high=[1.0 - 1e-16])


def test_guide_has_its_slope():
    _, (ax,) = plots.panels(1)
    line = plots.guide(ax, [1, 10, 100], -0.5, through=(10, 2))
    assert np.allclose(line.get_ydata(), [2 * 10**0.5, 2, 2 / 10**0.5])


def test_panels():
    fig, axes = plots.panels(3)
    assert len(axes) == len(fig.axes) == 3
    assert tuple(fig.get_size_inches()) == (7.2, 6.2)
    with pytest.raises(ValueError, match="at least 1"):
        plots.panels(0)


@pytest.mark.parametrize("n", [1, 4])
def test_type_is_readable_on_a_narrow_page(n):
    """At 328 pixels, what a page of 360 leaves for a figure, the smallest type is 7 pixels or more."""
    fig, _ = plots.panels(n)
    smallest = min(mpl.rcParams[key] for key in ("xtick.labelsize", "legend.fontsize", "font.size"))
    assert smallest / 72 * 328 / fig.get_size_inches()[0] >= 7


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr(display, "get_ipython", lambda: object())
    monkeypatch.setattr(display, "display", lambda *bundle, **options: outputs.append((*bundle, options)))
    return outputs


def figure(n=1):
    fig, axes = plots.panels(n)
    t = np.logspace(0, 6, 200)
    for ax in axes:
        for i in range(4):
            plots.measured(ax, t[::10], t[::10] ** (-0.2 * (i + 1)), index=i, label=f"series {i}")
            plots.theory(ax, t, t ** (-0.2 * (i + 1)))
        ax.set(xscale="log", yscale="log", xlabel="time $t$", ylabel="loss $L$", title="A panel")
        ax.legend()
    return fig


def test_show_gives_a_small_opaque_image_with_its_words(shown):
    fig = figure(4)
    plots.show(fig, name="loss-over-time", alt=ALT, caption="The loss\n falls.")
    ((bundle, options),) = shown
    assert set(bundle) == {"image/png"}
    assert options["raw"]
    about = options["metadata"]["image/png"]
    assert len(about.pop("panels")) == 4
    assert about == {"alt": ALT, "caption": "The loss falls.", "name": "loss-over-time"}
    png = b64decode(bundle["image/png"])
    assert len(png) < 60_000
    image = Image.open(io.BytesIO(png)).convert("RGBA")
    assert image.size == (864, 744)
    assert image.getpixel((0, 0)) == (255, 255, 255, 255)
    assert image.getextrema()[3] == (255, 255)
    assert not plt.fignum_exists(fig.number)


def test_few_colours_are_enough_for_a_map(shown):
    """The image of a smooth map stays within 4 of 255 of what was drawn, on average."""
    fig, (ax,) = plots.panels(1)
    ax.imshow(np.add.outer(np.arange(50), np.arange(50)))
    fig.canvas.draw()
    drawn = np.asarray(fig.canvas.buffer_rgba())[..., :3].astype(float)
    plots.show(fig, name="map", alt=ALT, caption="A map.")
    stored = np.asarray(Image.open(io.BytesIO(b64decode(shown[0][0]["image/png"]))).convert("RGB")).astype(
        float
    )
    assert np.abs(stored - drawn).mean() < 4


def test_the_same_figure_has_the_same_bytes(shown):
    for _ in range(2):
        plots.show(figure(), name="loss", alt=ALT, caption="Loss.")
    assert shown[0] == shown[1]


def test_data_are_left_where_the_run_says(shown, tmp_path, monkeypatch):
    monkeypatch.delenv("LAZYRICH_RESULTS", raising=False)
    data = {"t": np.array([1, 10]), "loss, γ = 1": np.array([0.1, 1 / 3, np.nan])}
    plots.show(figure(), name="loss", alt=ALT, caption="Loss.", data=data)
    monkeypatch.setenv("LAZYRICH_RESULTS", str(tmp_path))
    plots.show(figure(), name="loss", alt=ALT, caption="Loss.", data=data)
    rows = list(csv.reader((tmp_path / "figures" / "loss.csv").read_text().splitlines()))
    assert rows[0][:2] == ["t", "loss, γ = 1"]
    assert [row[0] for row in rows[1:4]] == ["1", "10", ""]
    assert float(rows[2][1]) == pytest.approx(1 / 3, rel=1e-8)
    with pytest.raises(ValueError, match="another figure"):
        plots.show(figure(), name="loss", alt=ALT, caption="Loss.", data=data)


def traced(fig, cells=None, **data):
    fig.canvas.draw()
    return trace(fig, {name: np.asarray(column) for name, column in data.items()}, cells or {})


def test_lines_are_traced_to_their_columns():
    fig, (one, two) = plots.panels(2)
    t, loss = np.arange(1, 6), np.array([1.0, 0.1, 1e-9, np.inf, np.nan])
    one.loglog(t, np.maximum(loss, 1e-4), label="clipped, and partly not finite")
    one.axhline(1)
    one.set(title=r"$L=3$", xlabel="step", ylabel=r"loss, $\eta=1$")
    plots.measured(two, t, np.sqrt(t))
    columns, (first, second) = traced(fig, t=t, loss=loss, root=np.sqrt(t), verdict=np.full(5, "trained"))
    assert set(columns) == {"t", "loss", "root", "verdict"}
    assert first["lines"] == [["t", "loss", "L=3, clipped, and partly not finite"]]
    assert second["lines"] == [["t", "root", ""]]
    assert first["x"] == ["log", *one.get_xlim()]
    assert second["y"] == ["linear", *two.get_ylim()]
    assert (first["names"], second["names"]) == (["step", "loss, η=1"], ["x", "value"])


def test_what_no_column_holds_is_added_with_its_interval():
    fig, (ax,) = plots.panels(1)
    t, y = np.arange(1, 5), np.array([1.0, 4.0, 9.0, 16.0])
    plots.measured(ax, t, y, y - 0.5, y + 1, label=r"$\gamma=1$")
    plots.theory(ax, t, 2 * y, "theory")
    plots.theory(ax, t, 3 * y, "theory")
    columns, (panel,) = traced(fig, t=t)
    assert panel["lines"] == [
        ["t", "γ=1: y", "γ=1"],
        ["t", "theory: y", "theory"],
        ["t", "theory (3): y", "theory"],
    ]
    np.testing.assert_array_equal(columns["γ=1: y"], y)
    np.testing.assert_allclose(columns["γ=1: low"], y - 0.5)
    np.testing.assert_allclose(columns["γ=1: high"], y + 1)
    np.testing.assert_array_equal(columns["theory (3): y"], 3 * y)


def test_every_line_s_columns_are_in_the_file(shown, tmp_path, monkeypatch):
    monkeypatch.setenv("LAZYRICH_RESULTS", str(tmp_path))
    plots.show(figure(3), name="loss", alt=ALT, caption="Loss.")
    (header, *_), *_ = [list(csv.reader((tmp_path / "figures" / "loss.csv").read_text().splitlines()))]
    ((*_, options),) = shown
    lines = [line for panel in options["metadata"]["image/png"]["panels"] for line in panel["lines"]]
    assert len(lines) == 24
    assert {column for x, y, _ in lines for column in (x, y)} <= set(header)


def test_a_panel_s_box_is_where_its_axes_are_drawn(shown):
    fig, (ax,) = plots.panels(1)
    ax.plot([0, 0.5, 1], [0.2, 0.4, 0.9])
    ax.set(facecolor="#ff0000", xlim=(0, 1), ylim=(0, 1))
    ax.grid(False)
    _, (panel,) = traced(fig)
    image = np.asarray(Image.open(io.BytesIO(display._png(fig))).convert("RGB"))
    red = (image[..., 0] > 200) & (image[..., 1] < 50)
    rows, columns = np.where(red.any(axis=1))[0], np.where(red.any(axis=0))[0]
    height, width = red.shape
    drawn = [columns[0] / width, rows[0] / height, np.ptp(columns) / width, np.ptp(rows) / height]
    assert panel["box"] == pytest.approx(drawn, abs=0.01)


def test_a_map_names_its_cells():
    fig, (ax,) = plots.panels(1)
    ax.pcolormesh([1.0, 2.0, 3.0], [1.0, 2.0], [[0.1, 0.2]])
    data = {"gamma": [1.5, 2.5], "eta": [1.5, 1.5], "verdict": ["trained", "diverged"]}
    _, (panel,) = traced(fig, {ax: list(data)}, **data)
    assert panel["cells"] == ["gamma", "eta", "verdict"]
    with pytest.raises(ValueError, match=r"cells of map: expected columns of data, got \['loss'\]"):
        plots.show(fig, name="map", alt=ALT, caption="A map.", data=data, cells={ax: ["gamma", "loss"]})


def test_a_figure_without_lines_has_no_panels():
    fig, (ax,) = plots.panels(1)
    ax.axhline(1)
    ax.plot([0, 1], [0, 1])
    assert traced(fig) == ({}, [])


def test_outside_a_notebook_nothing_is_printed(capsys):
    plots.show(figure(), name="loss", alt=ALT, caption="Loss.")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": "Loss over time"}, "name must be lower-case"),
        ({"alt": "loss"}, "alt of loss must describe"),
        ({"caption": " "}, "caption of loss"),
        ({"data": {"t": np.eye(2)}}, r"data\['t'\] of loss must have shape \(points,\), got \(2, 2\)"),
    ],
)
def test_figures_without_words_are_refused(change, named):
    with pytest.raises(ValueError, match=named):
        plots.show(plt.figure(), **{"name": "loss", "alt": ALT, "caption": "Loss."} | change)
