"""Chapter 01: scaling-law bottlenecks."""

from dataclasses import dataclass

from . import Checked, parameter


@dataclass(frozen=True)
class Parameters(Checked):
    """The defaults are the laptop preset; the claims of the papers run at their own α, β and γ."""

    alpha: float = parameter(1.5, "capacity: feature variances fall as k^-alpha", low=1, exclusive="low")
    beta: float = parameter(0.5, "source: target power falls as k^-(alpha beta + 1)", low=0, exclusive="low")
    gamma: float = parameter(1.0, "feature-learning strength, 0 is lazy", low=0)
    seeds: int = parameter(3, "seeds of every run that has no count of its own", low=3, high=100_000)
    seed0: int = parameter(0, "first seed", low=0, high=2**31 - 1)
    seeds_n32: int = parameter(500, "seeds of SGD at width 32", low=3, high=100_000)
    seeds_n128: int = parameter(250, "seeds of SGD at width 128", low=3, high=100_000)
    sgd_modes: int = parameter(1024, "features M of the simulated model", low=128, high=1_000_000)
    sgd_steps: int = parameter(400, "SGD steps", low=20, high=1_000_000)
    plane_points: int = parameter(12, "points a side of the (alpha, beta) plane", low=2, high=500)
    mnist_images: int = parameter(5000, "images of the measured kernel", low=250, high=5000)
    network_images: int = parameter(1000, "images the network is trained on", low=50, high=5000)
    network_width: int = parameter(2048, "hidden units of the network", low=2, high=1_000_000)
    network_time: float = parameter(100.0, "training time eta x steps", low=1, high=1e6)
