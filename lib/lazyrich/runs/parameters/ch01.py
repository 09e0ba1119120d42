"""Chapter 01: scaling-law bottlenecks."""

from dataclasses import dataclass

from . import Checked, parameter


@dataclass(frozen=True)
class Parameters(Checked):
    """The defaults are the laptop preset; the claims of the papers run at their own α, β and γ."""

    alpha: float = parameter(1.5, "capacity exponent of your task", low=1.05, high=10)
    beta: float = parameter(0.5, "source exponent of your task", low=0.05, high=10)
    gamma: float = parameter(1.0, "feature strength of your network, 0 is lazy", low=0, high=1e6)
    seeds: int = parameter(4, "seeds of the trained networks", low=3, high=100)
    seed0: int = parameter(0, "first seed of everything random", low=0, high=2**31 - 1)
    kernel_draws: int = parameter(128, "draws of a kernel or data set of size 32", low=32, high=100_000)
    noise_seeds: int = parameter(128, "SGD runs behind the points of the noise panel", low=3, high=100_000)
    seeds_n32: int = parameter(500, "SGD runs at width 32", low=3, high=100_000)
    seeds_n128: int = parameter(250, "SGD runs at width 128", low=3, high=100_000)
    sgd_modes: int = parameter(1024, "features of the simulated model", low=256, high=100_000)
    plane_points: int = parameter(6, "points a side of the (alpha, beta) plane", low=2, high=200)
    mnist_images: int = parameter(5000, "images of the measured kernel", low=1000, high=5000)
    network_images: int = parameter(1000, "images the network is trained on", low=100, high=5000)
    network_width: int = parameter(2048, "hidden units of the network, a multiple of 8", low=64, high=65_536)
    network_time: float = parameter(100.0, "training time, learning rate times steps", low=10, high=1e4)

    def memory(self) -> dict[str, float]:
        """Measured on the pieces: a kernel takes 4.5 times its entries, a network 4 times its activations."""
        return {
            "mnist_images": 4.5 * 8 * self.mnist_images**2,
            "network_width": 4 * 4 * self.seeds * self.network_width * (self.network_images + 784),
            "seeds_n32": 4 * 4 * self.seeds_n32 * 32 * 32,
            "seeds_n128": 4 * 4 * self.seeds_n128 * 32 * 128,
            "sgd_modes": 3 * 8 * 128 * self.sgd_modes,
        }
