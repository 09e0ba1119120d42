"""Every test runs under the book's own precision policy, with jax at its strictest."""

import jax
import jaxtyping
from hypothesis import settings

from lazyrich import device

device.setup()
settings.register_profile("book", settings(), deadline=None)  # a busy machine is no failure
settings.load_profile("book")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
# Shapes and types written in the library's signatures hold on every call the tests make. Not in runs,
# whose parameters take texts for numbers and coerce them.
ROOMS = ("fits", "ledger", "measure", "models", "plots", "tasks", "theory", "training")
jaxtyping.install_import_hook([f"lazyrich.{room}" for room in ROOMS], "typecheck.checked")
