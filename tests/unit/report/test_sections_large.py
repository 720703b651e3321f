"""Ten thousand pods on a thousand nodes: every picture and every text stays small enough for a page."""

import json
from pathlib import Path

import pytest
import vl_convert

from harness.report.document import Callout, Code, Facts, Fold, Listing, Picture, Section, Table, Text
from harness.report.sections import (
    comparison,
    environment,
    extenders,
    metrics,
    pending,
    placement,
    timeline,
    trace,
    verdict,
    warnings,
)
from harness.report.sources import Sources, gather
from harness.report.words import Words
from tests.unit.report.large import Large
from tests.unit.report.reading import ENGLISH, pictures, rows, size, table

SECTIONS = (verdict, comparison, placement, timeline, pending, extenders, trace, metrics, warnings, environment)
PODS, NODES, PENDING = 10_000, 1000, 3000
SPEC_BYTES_MAX = 200_000
TEXT_CHARACTERS_MAX = 100_000


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    shape = Large(PODS, NODES, PENDING, calls=True, trace=True, cassette_calls=200, variant="extender")
    return gather([shape.write(tmp_path_factory.mktemp("large"))])


@pytest.fixture(scope="module")
def sections(sources: Sources) -> dict[str, Section]:
    made = [module.section(sources, ENGLISH) for module in SECTIONS]
    return {section.name: section for section in made if section}


def test_every_chapter_has_something_to_say(sections: dict[str, Section]) -> None:
    names = {module.__name__.rpartition(".")[2] for module in SECTIONS}
    assert set(sections) == names - {"warnings"}


def test_pictures_are_bounded(sections: dict[str, Section]) -> None:
    sizes = {name: size(picture) for section in sections.values() for name, picture in pictures(section).items()}
    assert {name: bytes_ for name, bytes_ in sizes.items() if bytes_ > SPEC_BYTES_MAX} == {}
    assert len(sizes) >= 6
    assert sum(sizes.values()) < 5 * SPEC_BYTES_MAX


def test_what_is_not_a_table_is_bounded(sections: dict[str, Section]) -> None:
    for section in sections.values():
        told = sum(len(_text(block)) for block in section.all_blocks() if not isinstance(block, Table | Picture))
        assert told < TEXT_CHARACTERS_MAX, section.name


def _text(block: object) -> str:
    match block:
        case Text(text) | Callout(_, text) | Code(text):
            return text
        case Listing(items):
            return "".join(items)
        case Facts(pairs):
            return json.dumps(pairs)
        case Fold(title):
            return title
    return ""


def test_tables_have_every_row(sections: dict[str, Section]) -> None:
    assert len(rows(sections["timeline"], "pods")) == PODS
    assert len(rows(sections["pending"], "pending-pods")) == PENDING
    assert len(rows(sections["extenders"], "transcript")) == 2 * PODS
    assert len(rows(sections["placement"], "placement")) == NODES


def test_three_thousand_pods_that_wait_for_the_same_are_one_row(sections: dict[str, Section]) -> None:
    (row,) = rows(sections["pending"], "pending")
    assert row["pods"] == PENDING


def test_nodes_are_told_for_few_pods_only(sections: dict[str, Section]) -> None:
    assert len(table(sections["extenders"], "transcript-nodes").rows) <= 20_000


def test_every_word_is_there_in_chinese_too(sources: Sources) -> None:
    for module in SECTIONS:
        section = module.section(sources, Words("zh"))
        if section:
            assert any("一" <= character <= "鿿" for character in section.title) or section.name == "extenders"


def test_every_picture_can_be_drawn(sections: dict[str, Section], tmp_path: Path) -> None:
    for section in sections.values():
        for name, picture in pictures(section).items():
            drawn = vl_convert.vegalite_to_svg(json.dumps(picture.spec))
            assert drawn.count("<path") > 3, name
