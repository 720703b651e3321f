import json
from dataclasses import replace

import pytest

from harness.report.document import Callout, Fold, Picture, Section, Table, Text
from harness.report.section_text import WIDTH, section_text
from harness.report.sections import placement
from harness.report.sections.differences import section
from harness.report.sources import Sources
from harness.report.summary import RunSummary
from harness.report.words import LANGUAGES, Words
from tests.unit.report.given import judged
from tests.unit.report.placing import at_random, builder, renamed, run
from tests.unit.report.test_difference import drawn

EN = Words("en")


def made(*runs: RunSummary, language: str = "en") -> Section:
    found = section(Sources(runs=runs), Words(language))
    assert found is not None
    return found


def table(found: Section, name: str) -> Table:
    return next(block for block in found.all_blocks() if isinstance(block, Table) and block.name == f"compared-{name}")


def cells(found: Table, key: str) -> list[object]:
    place = [column.key for column in found.columns].index(key)
    return [row[place] for row in found.rows]


def texts(found: Section) -> str:
    return "\n".join(block.text for block in found.all_blocks() if isinstance(block, Text | Callout))


def test_one_run_has_no_differences() -> None:
    assert section(Sources(runs=(run((2, 1)),)), EN) is None
    other = run((2, 1), run_id="other", scenario="another")
    assert section(Sources(runs=(run((2, 1)), other)), EN) is None


def test_tables_have_raw_values_and_units() -> None:
    found = made(run((7, 7, 6)), run((8, 8, 4), variant="extender", slow=2.0))
    figures = table(found, "figures")
    assert cells(figures, "figure")[0] == "wait p50, ms"
    assert cells(figures, "base")[0] == pytest.approx(110.0)
    assert cells(figures, "here")[0] == pytest.approx(220.0)
    assert cells(figures, "change_percent")[0] == pytest.approx(100.0)
    spread = table(found, "spread")
    assert cells(spread, "side") == ["default", "extender"]
    assert cells(spread, "index") == [pytest.approx(0.05), pytest.approx(0.8)]
    assert cells(table(found, "apart"), "distance") == [pytest.approx(0.1)]
    assert cells(table(found, "apart"), "floor_from") == ["simulated"]


def test_the_short_form_has_a_line_on_placement() -> None:
    found = made(run((7, 7, 6)), run((8, 8, 4), variant="extender"))
    (line,) = (block.text for block in found.short if isinstance(block, Text))
    assert "default CV 0.07, D 0.05 (random " in line
    assert "extender CV 0.28, D 0.80 (random " in line
    assert "TVD 0.100 against default (floor " in line
    assert "within the floor" in line
    (chinese,) = (
        block.text for block in made(run((7, 7, 6)), run((8, 8, 4)), language="zh").short if isinstance(block, Text)
    )
    assert "的放置" in chinese
    (alone,) = (block.text for block in placed(run((7, 7, 6))).short if isinstance(block, Text))
    assert alone.startswith("Placement of ")
    assert "default CV 0.07, D 0.05 (random " in alone
    assert placed(run((7, 7, 6)), run((8, 8, 4))).short == ()


def placed(*runs: RunSummary) -> Section:
    found = placement.section(Sources(runs=runs), EN)
    assert found is not None
    return found


def test_movers_can_be_filtered_and_are_folded() -> None:
    found = made(run((2, 1)), run((1, 2), variant="extender"))
    movers = table(found, "movers")
    assert movers.rows == (("extender", "pod-2", "moved", "node-1", "node-2"),)
    assert movers.filters == ("side", "what")
    assert any(isinstance(block, Fold) and movers in block.blocks for block in found.blocks)


def test_interchangeable_pods_are_said_to_be_so() -> None:
    one, two = drawn("ab", ["n1", "n1"]), drawn("xy", ["n1", "n2"])
    two.variant = "extender"
    found = made(judged(one), renamed(judged(two), "other"))
    assert cells(table(found, "workloads"), "difference") == [-1, 1]
    assert "interchangeable" in table(found, "workloads").note
    two = drawn("xy", ["n1", "n1"])
    two.variant = "extender"
    assert "interchangeable" in texts(made(judged(one), renamed(judged(two), "other")))


def test_repeats_of_the_base_show_how_much_they_move_themselves() -> None:
    runs = (run((2, 1), run_id="a"), run((1, 2), run_id="b"), run((2, 1), run_id="c", variant="extender"))
    moved = table(made(*runs), "moves")
    assert [row[:2] for row in moved.rows] == [("default", 2), ("extender", 1)]
    assert cells(moved, "moved") == [1, 0]


def test_unlike_inputs_are_named() -> None:
    other = run((2, 1), variant="extender", seed=9, machine={"id": "there"})
    told = texts(made(run((2, 1)), other))
    assert "seed differs: 9 instead of 0 (1 run)." in told
    assert (
        "machine.id differs: there instead of here (1 run), so times, speeds and CPU are shown but not compared" in told
    )


def test_runs_on_other_nodes_are_left_out_and_named() -> None:
    runs = (run((2, 1)), run((2, 1), variant="extender"), run((2, 1, 0), run_id="wider", variant="controller"))
    found = made(*runs)
    assert cells(table(found, "spread"), "side") == ["default", "extender"]
    assert "wider is not compared: nodes: 3 with node-3 seen, 2 without expected." in texts(found)


@pytest.mark.parametrize(
    ("language", "told"), [("en", "cut-off is not compared, its record is"), ("zh", "cut-off 未参与")]
)
def test_a_record_that_was_cut_is_left_out_and_named(language: str, told: str) -> None:
    whole = run((2, 1), run_id="cut-off", variant="controller")
    cut = replace(whole.record, warnings=("pods.jsonl:7: the last line was cut by a crash and is left out",))
    found = made(run((2, 1)), run((2, 1), variant="extender"), replace(whole, record=cut), language=language)
    assert cells(table(found, "spread"), "side") == ["default", "extender"]
    assert told in texts(found)


def test_what_decides_that_a_placement_is_beyond_the_floor_is_shown() -> None:
    """Node by node these are as far apart as chance has it; sorted they are not."""
    found = made(run((2,) * 20), run((0,) * 7 + (3,) * 12 + (4,), variant="extender"))
    (row,) = table(found, "apart").rows
    told = dict(zip((column.key for column in table(found, "apart").columns), row, strict=True))
    assert told["outcome"] == "beyond the floor"
    assert float(told["distance"] or 0) < float(told["floor_most"] or 0)
    assert float(told["nameless"] or 0) > float(told["nameless_floor_most"] or 0)


def test_figures_have_their_unit_for_programs_in_every_language() -> None:
    units = {"p50_ms": "ms", "p90_ms": "ms", "pods_per_second": "pods/s", "cpu_ms_per_pod": "ms/pod"}
    units |= {"attempts": "attempts", "pending": "pods"}
    for language in LANGUAGES:
        figures = table(made(run((2, 1)), run((2, 1), variant="extender"), language=language), "figures")
        assert dict(zip(cells(figures, "name"), cells(figures, "unit"), strict=True)) == units
        assert not {"name", "unit"} & {column.key for column in figures.for_people().columns}
        assert "pods_per_second" not in section_text(made(run((2, 1)), run((2, 1), variant="extender")), EN)


def test_several_scenarios_share_the_tables() -> None:
    runs = [run((2, 1)), run((2, 1), variant="extender")]
    others = [renamed(replace_scenario(one), f"{one.record.meta.id}-2") for one in runs]
    spread = table(made(*runs, *others), "spread")
    assert next(column.key for column in spread.columns) == "scenario"
    assert spread.filters == ("scenario",)
    assert len(set(cells(spread, "scenario"))) == 2


def replace_scenario(one: RunSummary) -> RunSummary:
    meta = replace(one.record.meta, scenario="another")
    return RunSummary(replace(one.record, meta=meta), one.verdicts)


def test_a_picture_where_it_says_more_than_numbers() -> None:
    few = made(run((2, 1)), run((1, 2), variant="extender"))
    assert not [block for block in few.all_blocks() if isinstance(block, Picture)]
    even = made(run([3] * 8), run([3] * 8, variant="extender"))
    assert not [block for block in even.all_blocks() if isinstance(block, Picture)]
    uneven = made(run([10] * 8), run(at_random(80, 8, 2), variant="extender"))
    (picture,) = [block for block in uneven.all_blocks() if isinstance(block, Picture)]
    assert "99 % of random placements of default" in picture.about
    assert len(json.dumps(picture.spec)) < 200_000
    band, loads = (picture.spec["datasets"][layer["data"]["name"]] for layer in picture.spec["layer"])
    assert [row["pods"] for row in loads if row["side"] == "default"] == [10] * 8
    assert band[0]["low"] > 10 > band[-1]["high"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_there_in_every_language_and_fits(language: str) -> None:
    waits = builder([4] * 5 + [0, 3], variant="extender").extender("ext").call("filter", "pod-1")
    runs = [run([4] * 5 + [0, 3], run_id=f"d{turn}", slow=1 + turn / 100) for turn in range(2)]
    found = made(*runs, judged(waits, machine={"id": "here", "cores": 2}), language=language)
    text = section_text(found, Words(language))
    assert "compare." not in text
    # Wide characters take two columns.
    assert max(sum(1 + (ord(one) > 0x2E80) for one in line) for line in text.splitlines()) <= WIDTH
    assert "pass-through" not in text


def test_pods_with_any_name_stay_in_their_cells() -> None:
    odd = "<b>&" + "x" * 245
    one, two = (builder((1, 1)).pod(odd, node) for node in ("node-1", "node-2"))
    two.variant = "extender"
    found = made(judged(one), renamed(judged(two), "other"))
    assert cells(table(found, "movers"), "pod") == [odd]
    assert max(map(len, section_text(found, EN).splitlines())) <= WIDTH


def test_a_damaged_run_is_no_traceback() -> None:
    good, bad = run((2, 1)), run((2, 1), run_id="bad", variant="extender")
    empty = RunSummary(replace(bad.record, pods=(), nodes=(), workloads=()), ())
    found = section(Sources(runs=(good, run((2, 1), run_id="twin", variant="controller"), empty)), EN)
    assert found is not None
    assert "bad is not compared: nodes" in texts(found)
