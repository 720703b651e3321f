"""When requests are to be sent, as offsets in seconds from the start. Pure: the same plan gives the same arrivals.

Arrivals never wait for answers: that is what makes the load open.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import InputError

if TYPE_CHECKING:
    import numpy

    Offsets = numpy.typing.NDArray[numpy.float64]

KINDS = ("constant", "poisson", "ramp", "step")
RATE_MAX = 50_000.0
REQUESTS_MAX = 5_000_000
# A step schedule of one rate climbs to it in so many steps.
STEPS = 8


@dataclass(frozen=True)
class Plan:
    """A plan of arrivals.

    `rates` are requests per second: one for `constant` and `poisson`, first and last for `ramp`, one per step for
    `step`, whose steps are equally long. `seconds` are those that count; for `warmup_seconds` before them requests
    come at the first rate.
    """

    kind: str
    rates: tuple[float, ...]
    seconds: float
    seed: int = 0
    warmup_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"schedule {self.kind!r}: one of {', '.join(KINDS)} expected")
        wanted = {"constant": 1, "poisson": 1, "ramp": 2}.get(self.kind)
        if (wanted is not None and len(self.rates) != wanted) or not self.rates:
            raise InputError(f"a {self.kind} schedule takes {wanted or 'some'} rates, {len(self.rates)} seen")
        for rate in self.rates:
            # A ramp may begin at nothing.
            if not (0 < rate <= RATE_MAX or (rate == 0 and self.kind == "ramp" and any(self.rates))):
                raise InputError(f"rate {rate:g}: more than 0 and at most {RATE_MAX:g} requests per second expected")
        if self.count > REQUESTS_MAX:
            raise InputError(
                f"{self.count} requests asked for, at most {REQUESTS_MAX} are sent; lower the rate or the duration"
            )

    @property
    def rate(self) -> float:
        """Return the mean rate of the seconds that count."""
        return sum(self.rates) / len(self.rates)

    @property
    def count(self) -> int:
        """Return how many requests are to be expected; of a Poisson process, on average."""
        return round(self.rate * self.seconds + self.rates[0] * self.warmup_seconds)

    def segments(self) -> list[tuple[float, float, float]]:
        """Return the parts that are looked at by themselves, each with begin, end and rate; only steps have several."""
        rates = self.rates if self.kind == "step" else (self.rate,)
        each, lead = self.seconds / len(rates), self.warmup_seconds
        return [(lead + number * each, lead + (number + 1) * each, rate) for number, rate in enumerate(rates)]

    def mean_rate(self, begin: float, end: float) -> float:
        """Return the mean rate of a part of one segment."""
        if self.kind == "step":
            return next(rate for _, last, rate in self.segments() if begin < last)
        if self.kind != "ramp":
            return self.rates[0]
        slope = (self.rates[1] - self.rates[0]) / self.seconds
        return self.rates[0] + slope * ((begin + end) / 2 - self.warmup_seconds)

    def offsets(self) -> "Offsets":
        """Return when each request is to be sent, in order, those of the warm-up first."""
        import numpy as np  # noqa: PLC0415 - only those who measure need it

        first, lead = self.rates[0], self.warmup_seconds
        if self.kind == "poisson":
            return _poisson(first, lead + self.seconds, self.seed)
        if self.kind == "constant":
            return _constant(first, lead + self.seconds)
        # A ramp that begins at nothing has nothing to warm up with.
        parts = [_constant(first, lead)] if first * lead else []
        if self.kind == "ramp":
            parts.append(lead + _ramp(first, self.rates[1], self.seconds))
        else:
            parts += [begin + _constant(rate, end - begin) for begin, end, rate in self.segments()]
        return np.concatenate(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the plan for a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        """Return the plan of a file."""
        return cls(value["kind"], tuple(value["rates"]), value["seconds"], value["seed"], value["warmup_seconds"])


def parse_rates(kind: str, text: str) -> tuple[float, ...]:
    """Return the rates that an option spells: `R`, `FROM:TO` for a ramp, `R,R,…` for steps.

    Raises:
        InputError: it spells none.
    """
    separator = {"ramp": ":", "step": ","}.get(kind)
    words = text.split(separator) if separator else [text]
    try:
        rates = tuple(float(word) for word in words)
    except ValueError:
        form = {"ramp": "FROM:TO", "step": "R,R,…"}.get(kind, "a number")
        raise InputError(f"--rate {text}: {form} expected for a {kind} schedule") from None
    if any(rate != rate or rate < 0 for rate in rates):  # noqa: PLR0124 - only NaN differs from itself
        raise InputError(f"--rate {text}: rates of more than 0 expected")
    if kind == "step" and len(rates) == 1:
        return tuple(rates[0] * number / STEPS for number in range(1, STEPS + 1))
    if kind == "ramp" and len(rates) == 1:
        return (0.0, rates[0])
    return rates


def _constant(rate: float, seconds: float) -> "Offsets":
    import numpy as np  # noqa: PLC0415 - see above

    return np.arange(max(1, round(rate * seconds)), dtype=np.float64) / rate


def _poisson(rate: float, seconds: float, seed: int) -> "Offsets":
    import numpy as np  # noqa: PLC0415 - see above

    random = np.random.default_rng(seed)
    # Enough that hardly any seed needs a second helping.
    expected = rate * seconds
    gaps = random.exponential(1 / rate, size=int(expected + 6 * expected**0.5 + 10))
    moments = np.cumsum(gaps)
    while moments[-1] < seconds:
        more = np.cumsum(random.exponential(1 / rate, size=len(gaps))) + moments[-1]
        moments = np.concatenate([moments, more])
    return moments[moments < seconds]


def _ramp(first: float, last: float, seconds: float) -> "Offsets":
    """Return where the integral of a rate that changes evenly passes whole numbers."""
    import numpy as np  # noqa: PLC0415 - see above

    slope = (last - first) / seconds
    number = np.arange(max(1, int((first + last) / 2 * seconds)), dtype=np.float64)
    if slope == 0:
        return number / first
    return (np.sqrt(first**2 + 2 * slope * number) - first) / slope
