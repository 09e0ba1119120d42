"""The image data that a chapter lets choose, as literals, free of jax."""

from pathlib import Path

from . import ParameterError

FROM_FILES = ("fashion-mnist", "cifar10", "cifar5m", "mnist1m", "tiny-imagenet")
DATASETS = ("digits-stream", "mnist-stream", "mnist", *FROM_FILES)


def check_folder(dataset: str, data_folder: str) -> None:
    """Raise ParameterError where the files of a data set cannot be."""
    folder = Path(data_folder)  # a relative one counts from the chapter's, which is not known here
    missing = not data_folder or (folder.is_absolute() and not folder.is_dir())
    if dataset in FROM_FILES and missing:
        raise ParameterError(f"data_folder = {data_folder!r}: expected the folder of the files of {dataset}")
