"""Seconds a cell-step of a plain PyTorch loop in the manner of GE's authors; run by sweep.py.

    python benchmarks/_torch_loop.py WIDTH BATCH DEPTH STEPS STRENGTH...

One cell after the other: two copies of the network for centring, everything in float64 below γ = 1e-2,
the loss read by the host at every step. Prints wall and process seconds a step, the median over cells.
"""

import copy
import itertools
import statistics
import sys
import time

import torch

INPUTS, OUTPUTS = 64, 10


class Network(torch.nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        sizes = [INPUTS, *[width] * (depth - 1), OUTPUTS]
        self.scales = [1 / n**0.5 for n in sizes[: depth - 1]] + [1 / width]
        self.weights = torch.nn.ParameterList(torch.randn(m, n) for m, n in itertools.pairwise(sizes))

    def forward(self, x):
        for k, (weight, scale) in enumerate(zip(self.weights, self.scales, strict=True)):
            x = (torch.relu(x) if k else x) @ weight * scale
        return x


def cell(width, batch, depth, steps, strength):
    """Train one cell; wall and process seconds a step."""
    dtype = torch.float64 if strength < 1e-2 else torch.float32
    network = Network(width, depth).to(dtype)
    start = copy.deepcopy(network)
    rate = 0.1 * (strength**2 if strength < 1 else strength ** (2 / depth))
    optimiser = torch.optim.SGD(network.parameters(), lr=width * rate)
    inputs = torch.randn(steps, batch, INPUTS).to(dtype)
    targets = torch.randn(steps, batch, OUTPUTS).to(dtype)
    losses, clock = [], (time.perf_counter(), time.process_time())
    for x, y in zip(inputs, targets, strict=True):
        optimiser.zero_grad()
        with torch.no_grad():
            before = start(x)
        loss = torch.nn.functional.mse_loss((network(x) - before) / strength, y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return (time.perf_counter() - clock[0]) / steps, (time.process_time() - clock[1]) / steps


def main():
    width, batch, depth, steps = map(int, sys.argv[1:5])
    strengths = [float(s) for s in sys.argv[5:]]
    cell(width, batch, depth, 20, strengths[-1])
    seconds = [cell(width, batch, depth, steps, s) for s in strengths]
    print(*map(statistics.median, zip(*seconds, strict=True)))


if __name__ == "__main__":
    main()
