"""Pictures: the same specification always gives the same bytes, and nothing is fetched for it."""

import re
from typing import Any

import orjson
import pytest

from harness.report import charts
from harness.report.render import pictures
from harness.report.render.legal import legal_json

VALUES = [{"node": f"node-{number}", "pods": number} for number in range(1, 6)]


def spec_of(**more: Any) -> dict[str, Any]:
    encoding = {
        "x": {"field": "node", "type": "nominal", "title": "Node"},
        "y": {"field": "pods", "type": "quantitative", "title": "Pods"},
        "color": {"field": "pods", "type": "quantitative"},
    }
    return {"data": {"values": VALUES}, "mark": {"type": "bar", "clip": True}, "encoding": encoding, **more}


def test_the_same_specification_gives_the_same_bytes() -> None:
    assert pictures.svg(spec_of()) == pictures.svg(spec_of())
    assert pictures.png(spec_of()) == pictures.png(spec_of())
    assert pictures.png(spec_of()).startswith(b"\x89PNG")


def test_pictures_of_one_page_do_not_share_names() -> None:
    first, second = (pictures.svg(spec_of(), prefix=prefix) for prefix in ("a-", "b-"))
    names = set(re.findall(r' id="([^"]+)"', first))
    assert names
    assert all(name.startswith("a-") for name in names)
    assert names == set(re.findall(r"url\(#([^)]+)\)", first))
    assert first.replace("a-part", "b-part") == second


def test_texts_that_look_like_names_stay() -> None:
    told = 'url(#clip1) role="x" <b>'
    drawn = pictures.svg(spec_of(title=told))
    assert 'url(#clip1) role="x" &lt;b&gt;' in drawn
    assert "aria-" not in drawn


@pytest.mark.parametrize("illegal", ["\x00", "\b", "\f", "\x1b", "\ufffe", "\uffff"])
def test_a_name_that_no_xml_may_hold_is_drawn(illegal: str) -> None:
    # The converter ended the process at such a name, so the names are looked at before it gets them.
    shown = legal_json(orjson.dumps([f"a{illegal}b", "\\u0000 \\b", 'tab\t "quoted"']).decode())
    assert orjson.loads(shown) == ["a\ufffdb", "\\u0000 \\b", 'tab\t "quoted"']
    spec = spec_of(data={"values": [{"node": f"a{illegal}b", "pods": 1}]})
    assert "a\ufffdb" in pictures._text(spec)
    assert ">a\ufffdb<" in pictures.svg(spec)
    assert pictures.png(spec).startswith(b"\x89PNG")


@pytest.mark.parametrize(("more", "width"), [({}, charts.WIDTH), ({"width": 300}, 300)])
def test_size(more: dict[str, Any], width: int) -> None:
    drawn = re.search(r'width="(\d+)"', pictures.svg(spec_of(**more)))
    assert drawn is not None
    assert width < int(drawn[1]) < width + 80


def test_rows_get_their_room_and_views_their_own_size() -> None:
    rows = spec_of()
    rows["encoding"]["x"], rows["encoding"]["y"] = rows["encoding"]["y"], rows["encoding"]["x"]
    assert "height" not in pictures.sized(rows)
    assert pictures.sized(spec_of())["height"] == charts.HEIGHT
    assert pictures.sized({"hconcat": [spec_of(), spec_of()]}) == {"hconcat": [spec_of(), spec_of()]}
    facets = spec_of()
    facets["encoding"]["row"] = {"field": "node"}
    assert "width" not in pictures.sized(facets)


def test_background() -> None:
    assert 'fill="white"' in pictures.svg(spec_of())
    assert 'fill="white"' not in pictures.svg(spec_of(), background=None)


def test_chinese_gets_a_chinese_font() -> None:
    assert "Noto Sans CJK SC" in pictures.svg(spec_of(title="节点"))
    assert "CJK" not in pictures.svg(spec_of(title="nodes"))


def test_nothing_is_fetched() -> None:
    with pytest.raises(ValueError, match="url not allowed"):
        pictures.svg(spec_of(data={"url": "http://127.0.0.1:9/data.json"}))


def test_the_program_for_pages_cannot_end_its_element() -> None:
    assert "vegaEmbed" in pictures.bundle()
    assert "</script" not in pictures.bundle().lower()
    assert "<!--" not in pictures.bundle()
