"""Chapter 03: the γ–η phase portrait."""

from dataclasses import dataclass

from . import Checked, parameter
from .images import DATASETS, check_folder

MODELS = ("mlp", "cnn", "resnet", "vit")


@dataclass(frozen=True)
class Parameters(Checked):
    """The defaults are the laptop preset."""

    gamma: float = parameter(
        30.0, "feature-learning strength of the reader's network", low=1e-8, high=1e6, exclusive="low"
    )
    depth: int = parameter(3, "its weight matrices", low=2, high=8)
    seeds: int = parameter(3, "seeds of every run that has no count of its own", low=1, high=1000)
    seed0: int = parameter(0, "first seed", low=0, high=2**31 - 1)
    toy_points: int = parameter(81, "feature strengths of the toy portraits", low=11, high=2001)
    toy_steps: int = parameter(1000, "their budget of steps", low=100, high=1_000_000)
    width: int = parameter(64, "hidden units of the networks", low=8, high=65_536)
    batch: int = parameter(32, "images a step", low=1, high=65_536)
    steps: int = parameter(600, "steps of a portrait", low=50, high=1_000_000)
    depths: tuple[int, ...] = parameter((2, 3), "depths of the squared-loss portraits", low=2, high=5)
    model: str = parameter("cnn", "network of the section beyond the MLP", choices=MODELS)
    dataset: str = parameter("digits-stream", "its data", choices=DATASETS)
    data_folder: str = parameter("", "where your own files lie; unused by the embedded data")
    model_width: int = parameter(16, "its channels, hidden units or size of a token", low=8, high=65_536)
    model_steps: int = parameter(400, "steps of its portrait", low=20, high=1_000_000)
    model_seeds: int = parameter(1, "seeds of its portrait", low=1, high=1000)

    sweep_memory: float = parameter(
        1.0, "GiB that networks trained together may take", low=0, high=1e4, exclusive="low"
    )

    # Life in the regions: full batch
    full_batch: int = parameter(128, "images of the fixed batch", low=16, high=65_536)
    full_seeds: int = parameter(4, "seeds of its runs", low=1, high=1000)
    full_depths: tuple[int, ...] = parameter((2, 3, 4), "depths of its networks", low=2, high=5)
    full_steps: int = parameter(1500, "steps on it", low=40, high=1_000_000)
    catapult_width: int = parameter(
        128, "hidden units of the networks that are catapulted", low=8, high=65_536
    )
    hessian_steps: int = parameter(800, "steps between two Hessian spectra", low=20, high=1_000_000)
    silent_seeds: int = parameter(6, "seeds of silent alignment", low=1, high=1000)
    silent_steps: int = parameter(1500, "its steps", low=40, high=1_000_000)
    clock_steps: int = parameter(4000, "steps for plateau and drop, 0 leaves them out", low=0, high=1_000_000)
    deep_clock_steps: int = parameter(0, "the same with 4 layers", low=0, high=1_000_000)

    # Life in the regions: online
    online_steps: int = parameter(
        1500, "steps after which movement and outputs are compared", low=20, high=1_000_000
    )
    tuned_steps: int = parameter(400, "steps for which the best γ is sought", low=20, high=1_000_000)
    widths: tuple[int, ...] = parameter((64, 128, 256), "widths that are compared", low=8, high=65_536)
    index_seeds: int = parameter(0, "seeds of the single-index targets, 0 leaves them out", low=0, high=1000)

    def __post_init__(self):
        super().__post_init__()
        check_folder(self.dataset, self.data_folder)

    def memory(self) -> dict[str, float]:
        """What a sweep may take on the device, and the increments of all its cells on the host."""
        cells = 400 * self.seeds
        return {
            "sweep_memory": 2.0 * self.sweep_memory * 2**30,
            "width": 2 * 4.0 * cells * (64 + max(self.depths) * self.width) * self.width,
        }
