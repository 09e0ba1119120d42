"""Every test runs under the book's own precision policy, with jax at its strictest."""

import jax
import jaxtyping

from lazyrich import device

device.setup()
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
# Shapes and types written in the library's signatures hold on every call the tests make.
jaxtyping.install_import_hook("lazyrich", "typecheck.checked")
