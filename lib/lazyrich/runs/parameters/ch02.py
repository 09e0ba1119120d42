"""Chapter 02: rich versus lazy on hard tasks."""

from dataclasses import dataclass

from . import Checked, parameter
from .images import DATASETS, check_folder

TEN_CLASSES = DATASETS[:-1]  # the chapter's networks have ten outputs
MODELS = ("mlp", "cnn")
PIXELS = {"digits-stream": 8**2, "cifar10": 32**2 * 3, "cifar5m": 32**2 * 3}  # of the others 28²


@dataclass(frozen=True)
class Parameters(Checked):
    """The defaults are the laptop preset; the claims of the papers run at their own α, β and γ."""

    alpha: float = parameter(
        1.5, "capacity: feature variances fall as k^-alpha", low=1, exclusive="low", high=20
    )
    beta: float = parameter(
        0.3, "source: target power falls as k^-(alpha beta + 1)", low=0, exclusive="low", high=20
    )
    gamma: float = parameter(10.0, "feature-learning strength, 0 is lazy", low=0, high=1e6)
    seeds: int = parameter(3, "seeds of every run that has no count of its own", low=3, high=1000)
    seed0: int = parameter(0, "first seed", low=0, high=2**31 - 1)
    simulation_width: int = parameter(256, "width N of the drawn models", low=16, high=8192)
    simulation_draws: int = parameter(16, "random draws of them", low=3, high=10_000)
    sgd_seeds: int = parameter(80, "seeds of exact SGD at batch 2", low=3, high=100_000)
    tuned_horizon: float = parameter(
        1e4, "longest training for which the learning rate is tuned", low=1e3, high=1e6
    )
    finite_draws: int = parameter(50, "draws of 64 training samples", low=3, high=10_000)
    map_points: int = parameter(25, "feature strengths of the (t, gamma) map", low=5, high=500)
    plane_points: int = parameter(6, "points a side of the (alpha, beta) plane", low=2, high=200)
    circle_width: int = parameter(512, "hidden units of the networks on the circle", low=16, high=1_000_000)
    circle_time: float = parameter(300.0, "their training time eta x steps", low=10, high=1e5)
    circle_seeds: int = parameter(5, "targets with random phases", low=3, high=1000)
    dataset: str = parameter("digits-stream", "real input", choices=TEN_CLASSES)
    data_folder: str = parameter("", "where your own files lie; unused by the embedded data")
    model: str = parameter("mlp", "network on the real input", choices=MODELS)
    image_width: int = parameter(1024, "its hidden units or channels", low=2, high=1_000_000)
    image_batch: int = parameter(512, "images a step", low=1, high=65_536)
    image_time: float = parameter(100.0, "its training time eta x steps", low=20, high=1e6)
    kernel_images: int = parameter(2000, "images of the measured kernel", low=250, high=20_000)

    def __post_init__(self):
        super().__post_init__()
        check_folder(self.dataset, self.data_folder)

    def memory(self) -> dict[str, float]:
        """Measured on the pieces: a kernel takes 4.5 times its entries, networks 4 or 6.5 of theirs."""
        pixels = PIXELS.get(self.dataset, 28**2)
        places = pixels if self.model == "cnn" else 1  # a CNN keeps its channels at every place
        cells = 2 * self.seeds
        held = 6.5 * self.image_batch * places if self.model == "cnn" else 4 * (self.image_batch + pixels)
        return {
            "kernel_images": 4.5 * 8 * self.kernel_images**2,
            "image_width": 4 * cells * self.image_width * held,
            "circle_width": 4 * 4 * self.circle_width * 1024,
            "simulation_width": 4.5 * 8 * self.simulation_width**2 * 16,
        }
