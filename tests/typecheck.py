"""Annotations, shapes included, are checked while testing only (see conftest)."""

from beartype import BeartypeConf, beartype

# An int where a float is declared is fine, as everywhere in Python.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
