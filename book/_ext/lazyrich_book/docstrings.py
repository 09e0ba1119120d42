"""Docstrings, written with ``$…$`` for maths and plain |bars| and stars, as clean reStructuredText."""

import re
from inspect import getdoc

# Literals, roles, directives and doctests are left alone; display maths comes before inline maths.
TOKEN = re.compile(
    r"""(?P<keep> ``[^`]*``                     # literal
          | :[\w:]+:`[^`]*`                     # role
          | ^[ ]*(?:>>>|\.\.\.)[ ][^\n]*        # doctest
          | ^(?P<indent>[ ]*)\.\.[ ][^\n]*(?:\n(?:(?P=indent)[ ]+[^\n]+|(?=\n)))*  # directive and its block
        )
        | `(?P<literal>[^`]+)`
        | \$\$(?P<display>.+?)\$\$
        | \$(?P<inline>[^$]+?)\$
        | (?P<mark>[|*])""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


def restructured(text: str) -> str:
    r"""Turn ``$x$`` into the math role, ``$$x$$`` into a math block, and escape stray marks.

    >>> print(restructured(r"the norm |u|^2 of `u` and $\beta^*$"))
    the norm \|u\|^2 of ``u`` and :math:`\beta^*`
    """
    def replace(match):
        if match["literal"]:
            return f"``{match['literal']}``"
        if match["display"]:
            return f"\n\n.. math:: {' '.join(match['display'].split())}\n\n"
        if match["inline"]:
            return f":math:`{' '.join(match['inline'].split())}`"
        return f"\\{match['mark']}" if match["mark"] else match[0]

    return TOKEN.sub(replace, text)


def summary(thing) -> str:
    """The first sentence of a docstring; a plain value itself, whose type's docstring is not its own."""
    if not callable(thing):
        return f"`{thing}`" if isinstance(thing, str) else ", ".join(f"`{item}`" for item in thing)
    return " ".join((getdoc(thing) or "").split("\n\n")[0].split()).split(". ")[0]


def process(app, what, name, obj, options, lines):
    if what == "data":  # autodoc has found the docstring of its type
        lines[:] = [restructured(summary(obj)), ""]
        return
    lines[:] = restructured("\n".join(lines)).split("\n")
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # else napoleon takes what stands before the first colon for a type


def setup(app):
    app.connect("autodoc-process-docstring", process, priority=100)  # before napoleon
