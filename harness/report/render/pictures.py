"""Draws pictures: a specification in, SVG or PNG out, and the program for pages that draw it themselves. Pure.

Files and pages share one theme, so that a picture looks the same wherever it stands.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any

import orjson
import vl_convert

from harness.report import charts
from harness.report.render.legal import legal_json

# A page recolours these for the dark by their value: no picture should use them for its data.
INK, FAINT, LINE, GRID = "#24292e", "#59636e", "#8c959e", "#e2e5e9"
FONT = "sans-serif"
# Where Chinese stands in a picture: without a name, whatever font has the character is taken, serifs or not.
CHINESE_FONT = (
    "Noto Sans CJK SC, Source Han Sans SC, WenQuanYi Micro Hei, WenQuanYi Zen Hei, PingFang SC, Microsoft YaHei, "
    "sans-serif"
)
PNG_SCALE = 2

_AXIS = {
    "labelColor": FAINT,
    "titleColor": INK,
    "domainColor": LINE,
    "tickColor": LINE,
    "gridColor": GRID,
    "labelFontSize": 11,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 8,
    "labelLimit": 220,
    "tickSize": 4,
}
_LEGEND = {
    "orient": "top",
    "labelColor": INK,
    "titleColor": FAINT,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "labelLimit": 260,
    "symbolSize": 90,
}
_HEADER = {
    "labelColor": INK,
    "titleColor": FAINT,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
}
THEME: Mapping[str, Any] = {
    "font": FONT,
    "axis": _AXIS,
    "axisXDiscrete": {"labelAngle": 0, "labelOverlap": "greedy"},
    "legend": _LEGEND,
    "header": _HEADER,
    "title": {
        "color": INK,
        "subtitleColor": FAINT,
        "fontSize": 13,
        "fontWeight": 600,
        "anchor": "start",
    },
    "view": {"stroke": None},
    "mark": {"color": charts.COLOURS[0]},
    "text": {"color": INK, "fontSize": 11},
    "rule": {"color": FAINT},
    "line": {"strokeWidth": 2},
    "point": {"filled": True, "size": 40},
    "range": {"category": list(charts.COLOURS)},
}
# Views of these are sized one by one: a width for the whole would be a width for each.
_COMPOSED = ("hconcat", "vconcat", "concat", "facet", "repeat")
_FACETS = ("row", "column", "facet")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_TAG = re.compile(r"<[^>]+>")
# Readers of a page get one sentence about a picture instead of a name for each mark.
_NAMES_OF_MARKS = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_OWN_NAME = re.compile(r'(?<= id=")[^"]+(?=")')


def is_single(spec: Mapping[str, Any]) -> bool:
    """Tell whether a specification is one view, so that one width is enough for it."""
    encoding = spec.get("encoding") or {}
    return not any(key in spec for key in _COMPOSED) and not any(key in encoding for key in _FACETS)


def sized(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification with the usual size where it names none."""
    usual = {"width": charts.WIDTH, "height": charts.HEIGHT} if is_single(spec) else {}
    if "height" not in spec and _has_band(spec, "y"):
        # Rows of a picture need their room, however many there are.
        usual.pop("height", None)
    return usual | dict(spec)


def svg(spec: Mapping[str, Any], *, background: str | None = "white", prefix: str = "") -> str:
    """Draw a specification as SVG; the same one gives the same text.

    Args:
        spec: Vega-Lite, without addresses: nothing is fetched.
        background: a colour, or None for that of whatever the picture stands on.
        prefix: stands before the names of its parts, for pictures that share a page.
    """
    drawn = _renamed(_drawn(_text(spec)), prefix)
    ground = f'<rect width="100%" height="100%" fill="{background}"/>' if background else ""
    return _TAG.sub(lambda tag: tag[0] + ground, drawn, count=1)


def png(spec: Mapping[str, Any]) -> bytes:
    """Draw a specification as PNG, with two dots per point; the same one gives the same bytes."""
    drawn: bytes = vl_convert.svg_to_png(svg(spec), scale=PNG_SCALE)
    return drawn


@functools.cache
def bundle() -> str:
    """Return the program that draws specifications in a page: Vega, Vega-Lite and Vega-Embed."""
    program: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return program


def _text(spec: Mapping[str, Any]) -> str:
    # Vega's converter ends the whole process at a character that XML forbids.
    return legal_json(orjson.dumps(sized(spec), option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode())


# A report in several formats needs a picture several times, and Vega takes the longest part of its time.
@functools.lru_cache(maxsize=64)
def _drawn(spec: str) -> str:
    font = CHINESE_FONT if _CHINESE.search(spec) else FONT
    config = {**THEME, "background": "transparent", "font": font}
    drawn: str = vl_convert.vegalite_to_svg(spec, config=config, allowed_base_urls=[])
    return _TAG.sub(lambda tag: _NAMES_OF_MARKS.sub("", tag[0]), drawn)


def _renamed(drawn: str, prefix: str) -> str:
    """Number clips and gradients anew: Vega counts on from one picture to the next."""
    own = {name for tag in _TAG.findall(drawn) for name in _OWN_NAME.findall(tag)}
    if not own:
        return drawn
    known = {name: f"{prefix}part{place}" for place, name in enumerate(sorted(own, key=drawn.index))}
    named = re.compile(r'( id="|url\(#)(' + "|".join(map(re.escape, known)) + r')(?=[")])')
    return _TAG.sub(lambda tag: named.sub(lambda match: match[1] + known[match[2]], tag[0]), drawn)


def _has_band(spec: Mapping[str, Any], channel: str) -> bool:
    """Tell whether a channel has a place of its own per value, in the view or in a layer of it."""
    placed = (spec.get("encoding") or {}).get(channel) or {}
    if isinstance(placed, Mapping) and placed.get("type") in ("nominal", "ordinal"):
        return True
    return any(_has_band(layer, channel) for layer in spec.get("layer", ()) if isinstance(layer, Mapping))
