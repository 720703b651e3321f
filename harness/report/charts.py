"""What all pictures share: colours, sizes, and how a chart becomes a specification. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair

altair.data_transformers.disable_max_rows()

# Told apart by all eyes (Okabe and Ito), dark enough on white and light enough on black.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#7f7f7f")
# A variant has its colour everywhere, whichever others stand beside it.
VARIANTS = ("default", "extender", "second-scheduler", "framework-plugin", "controller", "rebuilt-scheduler")
# What is no variant, such as the verbs of an extender, has none of their colours. All eyes tell these apart as well.
SUBJECTS = ("#aa4499", "#447700", "#d98880", "#5e4fb8", "#6b5b4b", "#b89dd8", "#66ccbb", "#c0a000")
GOOD, BAD, NEUTRAL = "#009e73", "#d55e00", "#7f7f7f"
WIDTH, HEIGHT = 640, 260


def colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each name; that of a variant is always the same, others take what is left."""
    fixed = {name: COLOURS[VARIANTS.index(name)] for name in names if name in VARIANTS}
    free = [colour for colour in COLOURS if colour not in fixed.values()] or list(COLOURS)
    others = [name for name in dict.fromkeys(names) if name not in fixed]
    return {**fixed, **{name: free[place % len(free)] for place, name in enumerate(others)}}


def scale(names: Sequence[str]) -> Any:
    """Return a scale of Altair that gives each name its colour."""
    chosen = colours(names)
    return altair.Scale(domain=list(chosen), range=list(chosen.values()))


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
