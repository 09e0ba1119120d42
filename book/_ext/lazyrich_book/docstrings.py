"""Docstrings, written with ``$…$`` for maths and plain |bars| and stars, as clean reStructuredText."""

import re

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


def process(app, what, name, obj, options, lines):
    lines[:] = restructured("\n".join(lines)).split("\n")
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # else napoleon takes what stands before the first colon for a type


def setup(app):
    app.connect("autodoc-process-docstring", process, priority=100)  # before napoleon
