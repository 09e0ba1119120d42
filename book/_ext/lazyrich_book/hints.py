"""Definitions at hand: on each page the first use of a glossary term is a link that shows it on hover."""

import re

from docutils import nodes

GLOSSARY = "book/glossary"
# Words in these are names, labels or links already.
LEFT_ALONE = (
    nodes.reference, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.caption, nodes.table,
    nodes.term, nodes.rubric, nodes.target, nodes.strong,
)  # fmt: skip


def definitions(doctree: nodes.document) -> dict[str, tuple[str, str]]:
    """Term → (its anchor, its definition's first sentence) of the glossary page."""
    found = {}
    for item in doctree.findall(nodes.definition_list_item):
        text = next(item.findall(nodes.definition)).astext()
        for term in item.findall(nodes.term):
            if term["ids"]:
                sentence = re.split(r"(?<=\.)\s", " ".join(text.split()))[0]
                found[term.astext()] = term["ids"][0], sentence
    return found


def add_hints(app, doctree, docname):
    """Link the first use of each term in running text."""
    if docname == GLOSSARY or GLOSSARY not in app.env.found_docs or docname.startswith("book/api"):
        return
    terms = definitions(app.env.get_doctree(GLOSSARY))
    if not terms:
        return
    # The longest first: "kernel growth" before "kernel".
    pattern = re.compile(rf"\b({'|'.join(sorted(map(re.escape, terms), key=len, reverse=True))})\b")
    page = app.builder.get_relative_uri(docname, GLOSSARY)
    used = set()
    for text in list(doctree.findall(nodes.Text)):
        if any(isinstance(node, LEFT_ALONE) for node in ancestors(text)) or not in_paragraph(text):
            continue
        parts = []
        for index, part in enumerate(pattern.split(text)):
            if index % 2 and part not in used:
                used.add(part)
                anchor, sentence = terms[part]
                hint = nodes.reference("", part, refuri=f"{page}#{anchor}", internal=True, reftitle=sentence)
                hint["classes"].append("hint")
                parts.append(hint)
            elif part:
                parts.append(nodes.Text(part))
        if any(isinstance(part, nodes.reference) for part in parts):
            text.parent.replace(text, parts)


def ancestors(node):
    while node := node.parent:
        yield node


def in_paragraph(node) -> bool:
    return any(isinstance(above, nodes.paragraph) for above in ancestors(node))


def setup(app):
    app.connect("doctree-resolved", add_hints, priority=900)
