import numpy as np
import pytest

from lazyrich.tasks.circle import PHASES, fourier_target


@pytest.mark.parametrize("phases", PHASES)
@pytest.mark.parametrize("power", [1, 2])
def test_the_target_has_the_spectrum_it_declares(phases, power):
    task = fourier_target(0.5, power, points=128, highest=40, phases=phases, seed=2)
    size = 2 * np.abs(np.fft.rfft(task.targets[:, 0].astype(float))) / 128
    assert np.allclose(size[:41], task.amplitudes, atol=1e-6)
    assert np.allclose(size[41:], 0, atol=1e-6)
    used = np.flatnonzero(task.amplitudes)
    assert ((used - power) % 2 == 1).all()
    slope = np.polyfit(np.log(used), np.log(task.amplitudes[used] ** 2), 1)[0]
    assert slope == pytest.approx(-(2 * power * 0.5 + 1))
    assert np.mean(task.targets**2) == pytest.approx(1, rel=1e-5)


def test_phases():
    zero, again = fourier_target(0.4), fourier_target(0.4, seed=9)
    assert (zero.targets == again.targets).all()
    assert zero.targets[0, 0] == pytest.approx(zero.amplitudes.sum(), rel=1e-6)
    signs, other = fourier_target(0.4, phases="sign", seed=0), fourier_target(0.4, phases="sign", seed=1)
    assert (signs.targets != other.targets).any()
    mirrored = np.roll(signs.targets[::-1], 1)
    assert np.allclose(mirrored, signs.targets, atol=1e-5)  # signs keep it even
    random = fourier_target(0.4, phases="random").targets
    assert not np.allclose(np.roll(random[::-1], 1), random)


def test_inputs_have_unit_entries_on_average_and_named_dtypes():
    task = fourier_target(1.5, points=100, highest=10)
    assert np.allclose((task.inputs**2).sum(axis=1), 2, rtol=1e-6)
    assert task.inputs.dtype == task.targets.dtype == np.float32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": 0.0}, "source = 0.0"),
        ({"power": 0}, "power = 0"),
        ({"highest": 256}, "highest = 256: expected in 2…255"),
        ({"phases": "none"}, "phases = 'none'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        fourier_target(**(dict(source=0.4) | options))
