"""What all pictures share: colours, sizes, and how a chart becomes a specification. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import altair

altair.data_transformers.disable_max_rows()

# Told apart by all eyes (Okabe and Ito), dark enough on white and light enough on black.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#7f7f7f")
# A variant has its colour everywhere, whichever others stand beside it.
VARIANTS = ("default", "extender", "second-scheduler", "framework-plugin", "controller", "rebuilt-scheduler")
# Sides of one variant share its colour and differ in their dashes, or in strength where dashes mean something else.
DASHES = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))
STRENGTHS = (1.0, 0.55, 0.35, 0.2)
# The ends are seen on white and on black paper.
_SHADES = (0xDA, 0x55)
_MIDDLE = 0x76
_SIDE = re.compile(r" #\d+$")
# What is no variant, such as the verbs of an extender, has none of their colours. All eyes tell these apart as well.
SUBJECTS = ("#aa4499", "#447700", "#d98880", "#5e4fb8", "#6b5b4b", "#b89dd8", "#66ccbb", "#c0a000")
GOOD, BAD, NEUTRAL = "#009e73", "#d55e00", "#7f7f7f"
WIDTH, HEIGHT = 640, 260


def colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each name; a variant and its sides always have the same, others take what is left."""
    variants = {name: _SIDE.sub("", name) for name in names}
    fixed = {name: COLOURS[VARIANTS.index(one)] for name, one in variants.items() if one in VARIANTS}
    free = [colour for colour in COLOURS if colour not in fixed.values()] or list(COLOURS)
    others = [name for name in dict.fromkeys(names) if name not in fixed]
    return {**fixed, **{name: free[place % len(free)] for place, name in enumerate(others)}}


def shades(count: int) -> list[str]:
    """Return greys from light to dark: what is no variant has no colour of one, and every eye tells light from dark."""
    light, dark = _SHADES
    steps = (light + (dark - light) * place / max(1, count - 1) for place in range(count))
    return [f"#{f'{round(step):02x}' * 3}" for step in steps]


def is_light(shade: str) -> bool:
    """Tell whether black is easier to read than white on a grey."""
    return int(shade[1:3], 16) > _MIDDLE


def scale(names: Sequence[str]) -> Any:
    """Return a scale of Altair that gives each name its colour."""
    chosen = colours(names)
    return altair.Scale(domain=list(chosen), range=list(chosen.values()))


def places(names: Sequence[str]) -> dict[str, int]:
    """Return, for each name, which it is of those that have its colour, from 0."""
    seen: Counter[str] = Counter()
    found = {}
    for name, colour in colours(names).items():
        found[name] = seen[colour]
        seen[colour] += 1
    return found


def subject_scale(names: Sequence[str]) -> Any:
    """Return a scale of Altair for what is no variant: extenders, kinds of calls, metrics."""
    distinct = list(dict.fromkeys(names))
    return altair.Scale(domain=distinct, range=[SUBJECTS[place % len(SUBJECTS)] for place in range(len(distinct))])


def spec(chart: Any) -> Mapping[str, Any]:
    """Return the Vega-Lite specification of a chart of Altair; the same chart gives the same text."""
    document: dict[str, Any] = chart.to_dict()
    # A theme of Altair's own: pages and pictures bring theirs.
    document.pop("config", None)
    return document
