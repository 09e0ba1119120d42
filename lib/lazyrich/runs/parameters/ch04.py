"""Chapter 04: the feature speed formula and the backward-feature angle."""

from dataclasses import dataclass

from . import Checked, parameter


@dataclass(frozen=True)
class Parameters(Checked):
    """The defaults are the laptop preset; the claims run at their own depths and scalings."""

    blocks: int = parameter(16, "residual blocks of your network", low=1, high=256)
    branch_power: float = parameter(0.25, "its branches are scaled by blocks^-power", low=0, high=4)
    seed0: int = parameter(0, "first seed of everything random", low=0, high=2**31 - 1)
    networks: int = parameter(100, "networks behind each mean angle and sensitivity", low=3, high=100_000)
    width: int = parameter(384, "width of the plain networks whose angles are measured", low=16, high=8192)
    depth: int = parameter(32, "layers, and residual blocks, of the deep networks", low=9, high=512)
    residual_width: int = parameter(
        256, "width of the residual networks and of the scaling table", low=64, high=8192
    )
    residual_networks: int = parameter(
        120, "shallow residual networks with branches of scale 1", low=3, high=100_000
    )
    kernel_width: int = parameter(512, "width of the networks whose kernel is probed", low=16, high=8192)
    kernel_networks: int = parameter(12, "networks whose kernel is probed", low=3, high=10_000)
    architecture_blocks: int = parameter(8, "depth of the architectures without a law", low=1, high=64)
    joint_networks: int = parameter(200, "two-layer networks of the joint scaling", low=3, high=100_000)
    train_blocks: int = parameter(24, "blocks and layers of the networks trained on digits", low=3, high=128)
    train_steps: int = parameter(160, "their steps", low=20, high=100_000)
    train_seeds: int = parameter(12, "their seeds", low=2, high=1000)
    transfer_width: int = parameter(
        128,
        "widest network of the learning-rate transfer; its half and quarter come with it",
        low=64,
        high=4096,
    )
    transfer_blocks: int = parameter(32, "deepest one, in blocks, beside 2 and 8", low=9, high=256)
    transfer_steps: int = parameter(80, "their steps", low=10, high=100_000)
    transfer_seeds: int = parameter(8, "their seeds", low=2, high=1000)

    def memory(self) -> dict[str, float]:
        """The compiled programs, and on each of two devices the passes of one network at a time."""
        passes = lambda layers, width: 2**29 + 2 * 8 * 4.0 * layers * width**2
        return {
            "width": passes(self.depth, self.width),
            "residual_width": passes(2 * self.depth, self.residual_width),
            "kernel_width": passes(9, self.kernel_width),
            "transfer_width": passes(2 * self.transfer_blocks, self.transfer_width),
        }
