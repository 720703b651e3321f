"""Made-up measurements with the noise of a shared machine, to check the checker with thousands of checks a second.

What disturbs a real machine is here too: work that differs from call to call, a speed that drifts for seconds and hits
both sides, and rare interruptions by somebody else, as long as they like to be.
"""

from dataclasses import dataclass

import numpy as np

from harness.load.stats.blocks import Floats


@dataclass(frozen=True)
class Noise:
    """How noisy a machine is.

    Args:
        jitter: sigma of the lognormal work of a call.
        drift: sigma of the logarithm of the machine's speed, which both sides share.
        memory: how much of the drift the next pair inherits.
        interrupted: share of calls that somebody interrupts.
        pause: the shortest interruption, as a share of a call.
        heavy: how heavy the tail of interruptions is; the exponent of a Pareto law.
    """

    jitter: float = 0.2
    drift: float = 0.15
    memory: float = 0.98
    interrupted: float = 0.04
    pause: float = 0.5
    heavy: float = 1.3


SHARED = Noise()


def pairs(
    random: np.random.Generator, checks: int, count: int, slower: float = 0.0, noise: Noise = SHARED
) -> tuple[Floats, Floats]:
    """Return what base and candidate took: `checks` rows of `count` pairs, the candidate slower by a share."""
    drift = _drift(random, checks, count, noise)
    sides = [_calls(random, drift, noise) for _ in range(2)]
    return sides[0], sides[1] * (1 + slower)


def _calls(random: np.random.Generator, drift: Floats, noise: Noise) -> Floats:
    work = np.exp(noise.jitter * random.standard_normal(drift.shape) + drift)
    hit = random.random(drift.shape) < noise.interrupted
    pause = noise.pause * (1 + random.pareto(noise.heavy, drift.shape))
    return np.asarray(work + hit * pause)


def _drift(random: np.random.Generator, checks: int, count: int, noise: Noise) -> Floats:
    from scipy.signal import lfilter

    steps = random.standard_normal((checks, count)) * noise.drift * np.sqrt(1 - noise.memory**2)
    steps[:, 0] = random.standard_normal(checks) * noise.drift
    return np.asarray(lfilter([1.0], [1.0, -noise.memory], steps, axis=1))
