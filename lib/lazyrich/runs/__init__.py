"""Running chapters: typed parameters and presets, the strict front to papermill, provenance."""

from .checkpoints import checkpoint
from .parameters import ParameterError
from .presets import preset_name, presets, with_preset
from .progress import progress

__all__ = ["ParameterError", "checkpoint", "preset_name", "presets", "progress", "with_preset"]
