from dataclasses import replace
from itertools import pairwise

from harness.report import charts
from harness.report.document import Text
from harness.report.sections import placement
from harness.report.sections.placement import PODS_NAMED_MAX, RUNS_SIDE_BY_SIDE_MAX
from harness.report.summary import RunSummary
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.given import judged, mixed
from tests.unit.report.reading import ENGLISH, blocks, of, pictures, rows, size, table, values


def placed(*counts: int, variant: str = "default", pending: int = 0) -> RunSummary:
    """A run whose nodes hold so many pods."""
    builder = RecordBuilder(variant=variant)
    for node, count in enumerate(counts):
        builder.node(f"node-{node}", cpu=10**6, pods=10**6)
        for pod in range(count):
            builder.pod(f"p{node}-{pod}", f"node-{node}")
    for pod in range(pending):
        builder.pod(f"w{pod}", message=NO_CPU)
    return judged(builder)


def test_without_pods_and_nodes_there_is_nothing_to_say() -> None:
    assert placement.section(of(), ENGLISH) is None
    assert placement.section(of(judged(RecordBuilder())), ENGLISH) is None


def test_pods_per_node_have_a_column_per_run_and_repeats_are_not_mixed_up() -> None:
    section = placement.section(of(placed(3, 0), placed(1, 2), placed(2, 2, variant="extender")), ENGLISH)
    found = table(section, "placement")
    assert [column.key for column in found.columns] == ["node", "default_1_pods", "default_2_pods", "extender_1_pods"]
    assert [column.title for column in found.columns[1:]] == ["default #1", "default #2", "extender"]
    assert found.rows == (("node-0", 3, 1, 2), ("node-1", 0, 2, 2))


def test_only_what_was_there_at_the_end_counts() -> None:
    section = placement.section(of(mixed()), ENGLISH)
    assert table(section, "placement").rows == (("n1", 2), ("n2", 2))
    (row,) = rows(section, "spread")
    assert (row["nodes"], row["placed"], row["pending"], row["empty_nodes"]) == (2, 4, 1, 0)


def test_a_node_that_a_run_does_not_have_is_an_empty_cell() -> None:
    section = placement.section(of(placed(1), placed(1, 0, variant="extender")), ENGLISH)
    assert table(section, "placement").rows == (("node-0", 1, 1), ("node-1", None, 0))


def test_nodes_stand_in_the_order_of_their_numbers() -> None:
    section = placement.section(of(placed(*range(12))), ENGLISH)
    assert [row[0] for row in table(section, "placement").rows][-2:] == ["node-10", "node-11"]


def test_spread_says_least_middle_mean_and_most() -> None:
    (row,) = rows(placement.section(of(placed(0, 2, 7)), ENGLISH), "spread")
    assert (row["pods_min"], row["pods_median"], row["pods_mean"], row["pods_max"]) == (0, 2.0, 3.0, 7)
    assert row["empty_nodes"] == 1


def test_few_nodes_are_bars_with_every_count() -> None:
    section = placement.section(of(placed(3, 1), placed(2, 2, variant="extender")), ENGLISH)
    picture = pictures(section)["placement"]
    drawn = {(one["run"], one["node"]): one["pods"] for one in values(picture)}
    assert drawn == {
        ("default", "node-0"): 3,
        ("default", "node-1"): 1,
        ("extender", "node-0"): 2,
        ("extender", "node-1"): 2,
    }
    assert "default: 1 to 3 pods per node" in picture.about


def test_a_run_is_one_bar_of_its_nodes_and_nodes_have_no_colour_of_a_variant() -> None:
    runs = placed(13, 1, 1, 0), replace(placed(5, 5, 5, 0), side="default #2")
    picture = pictures(placement.section(of(*runs), ENGLISH))["placement"]
    bars, numbers, names = picture.spec["layer"]
    assert bars["encoding"]["x"] | {"field": "pods", "stack": "zero"} == bars["encoding"]["x"]
    assert (bars["encoding"]["y"]["field"], "xOffset" in bars["encoding"]) == ("run", False)
    nodes = bars["encoding"]["color"]["scale"]
    assert nodes["domain"] == ["node-0", "node-1", "node-2", "node-3"]
    assert all(shade[1:3] == shade[3:5] == shade[5:7] for shade in nodes["range"])
    assert len(set(nodes["range"])) == 4
    assert not {*nodes["range"]} & {*charts.COLOURS}
    # What is too narrow for the name has the number, and what is nothing has nothing.
    assert numbers["encoding"]["text"]["field"] == "label"
    assert [one["label"] for one in values(picture)][:4] == ["node-0: 13", "1", "1", ""]
    # The variant's own colour stands beside the name of the run.
    assert set(names["encoding"]["color"]["scale"]["range"]) == {charts.colours(["default"])["default"]}


def test_shades_are_told_from_paper_and_from_each_other() -> None:
    for count in range(1, 9):
        levels = [int(shade[1:3], 16) for shade in charts.shades(count)]
        assert all(light - dark >= 16 for light, dark in pairwise(levels))
        assert 0x50 < min(levels) <= max(levels) < 0xE0


def test_some_nodes_are_a_heat_map_with_numbers() -> None:
    picture = pictures(placement.section(of(placed(*range(20))), ENGLISH))["placement"]
    assert sorted(one["pods"] for one in values(picture)) == list(range(20))
    assert [layer["mark"]["type"] for layer in picture.spec["layer"]] == ["rect", "text"]


def test_very_many_nodes_are_binned_and_nothing_is_lost() -> None:
    builder = RecordBuilder()
    for node in range(1000):
        builder.node(f"node-{node}", cpu=10**6, pods=10**6)
    for pod in range(1500):
        builder.pod(f"p{pod}", f"node-{pod % 997}")
    drawn = pictures(placement.section(of(judged(builder)), ENGLISH))
    assert set(drawn) == {"placement", "load-by-node"}
    assert all(size(picture) < 60_000 for picture in drawn.values())
    heat = values(drawn["placement"])
    assert sum(one["pods"] for one in heat) * 7 > 1500
    assert "up to 7 nodes" in drawn["placement"].about
    assert max(one["rank"] for one in values(drawn["load-by-node"])) == 1000


def test_many_nodes_that_all_hold_the_same_need_no_picture() -> None:
    section = placement.section(of(placed(*[2] * 40)), ENGLISH)
    assert pictures(section) == {}
    assert any("same number of pods" in text.text for text in blocks(section, Text))


def test_more_runs_than_fit_side_by_side_get_tables_of_their_own() -> None:
    section = placement.section(of(*(placed(1) for _ in range(RUNS_SIDE_BY_SIDE_MAX + 1))), ENGLISH)
    assert len(table(section, "placement").columns) == 1 + RUNS_SIDE_BY_SIDE_MAX
    assert len(table(section, "placement-2").columns) == 2


def test_which_pod_is_where() -> None:
    told = rows(placement.section(of(placed(1, 1, pending=1)), ENGLISH), "pods-by-node")
    assert [(row["pod"], row["node"], row["state"]) for row in told] == [
        ("default/p0-0", "node-0", "Running"),
        ("default/p1-0", "node-1", "Running"),
        ("default/w0", None, "pending"),
    ]


def test_very_many_pods_are_not_named_twice() -> None:
    section = placement.section(of(placed(PODS_NAMED_MAX + 1)), ENGLISH)
    assert not [block for block in section.all_blocks() if getattr(block, "name", "") == "pods-by-node"]  # type: ignore[union-attr]
    assert any("table of pods" in text.text for text in blocks(section, Text))
