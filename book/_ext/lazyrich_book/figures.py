"""Alt text and captions that the run computed, and the data behind each figure beside it.

A chapter stores them in the metadata of the figure's output (``lazyrich.plots.show``). MyST-NB
keeps only width and height of it, but names the image file by the SHA-256 of its bytes: that is
how the image finds its metadata again.
"""

import json
import re
from base64 import b64decode
from hashlib import sha256
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.transforms import SphinxTransform

from lazyrich.files import data_path, write_atomic


def figure_metadata(notebook: Path) -> dict[str, dict]:
    """Map the SHA-256 of each PNG stored in a notebook to its alt text, caption and name."""
    found = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                key = sha256(b64decode("".join(png))).hexdigest()
                found[key] = output["metadata"].get("image/png", {})
    return found


def inline(text: str) -> list[nodes.Node]:
    """Plain text with ``$…$`` as maths and ``*…*`` as emphasis."""
    kinds = (nodes.Text, lambda part: nodes.math(part, part), lambda part: nodes.emphasis(part, part))
    parts = re.split(r"\$([^$]+)\$|\*(\w[^*]*)\*", text)
    return [kinds[i % 3](part) for i, part in enumerate(parts) if part]


def data_file(source: Path, stem: str, name: str) -> Path | None:
    """The CSV behind a figure: of this build's run, else of the committed one."""
    folders = (source / "runs" / stem / "figures", data_path("ledger") / "figures" / stem)
    folder = next(filter(Path.is_dir, folders), None)
    path = folder and folder / f"{name}.csv"
    return path if path and path.is_file() else None


def download(env, stem: str, name: str, panels: list) -> list[nodes.Node]:
    """A link to a figure's data, which is put beside the pages; nothing where there are none.

    With `panels`, which say where in the picture the data lie, the page also gets what readout.js reads:
    the same file as a script, since a page from the disk may not fetch one.
    """
    path = data_file(Path(env.srcdir), stem, name)
    if path is None:
        return []
    target = f"_static/figures/{stem}/{name}.csv"
    write_atomic(Path(env.app.outdir) / target, path.read_bytes())
    up = "../" * env.docname.count("/")
    words = f'<a class="figure-data" href="{up}{target}" download="{stem}-{name}.csv">Data (CSV)</a>'
    if panels:
        key = f"{stem}/{name}"
        script = f"(window.lazyrichData ??= {{}})[{json.dumps(key)}] = {json.dumps(path.read_text('utf-8'))};"
        write_atomic(Path(env.app.outdir) / f"_static/figures/{key}.js", script)
        words += (
            f'<script type="application/json" class="figure-panels" data-key="{key}" '
            f'data-source="{up}_static/figures/{key}.js">{json.dumps(panels)}</script>'
        )
    return [nodes.Text(" "), nodes.raw("", words, format="html")]


class ComputedFigures(SphinxTransform):
    """Give a notebook's images their alt text, and make those with a caption numbered figures."""

    default_priority = 400

    def apply(self, **kwargs):
        source = Path(self.env.doc2path(self.env.docname))
        if source.suffix != ".ipynb":
            return
        metadata = figure_metadata(source)
        for image in list(self.document.findall(nodes.image)):
            found = metadata.get(PurePosixPath(image["uri"]).stem, {})
            if "alt" in found:
                image["alt"] = found["alt"]
            if "caption" in found:
                beside = download(self.env, source.stem, found.get("name", ""), found.get("panels", []))
                caption = nodes.caption("", "", *inline(found["caption"]), *beside)
                figure = nodes.figure("", image.deepcopy(), caption)
                # a figure's name is unique in its chapter, a label in the book
                label = f"fig {source.stem[:2]} {found['name']}" if "name" in found else None
                name = label and nodes.fully_normalize_name(label)
                if name:
                    figure["names"].append(name)
                    self.document.note_explicit_target(figure, figure)
                image.replace_self(figure)


def setup(app):
    app.add_transform(ComputedFigures)
    app.add_js_file("readout.js", loading_method="defer")
