from harness.report.document import Fold, Listing
from harness.report.sections import pending
from harness.report.sections.pending import EXAMPLES_MAX, STORIES_PER_RUN_MAX
from harness.report.summary import RunSummary
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, blocks, callouts, of, rows

TAINT = "0/{n} nodes are available: {n} node(s) had untolerated taint {{a: b}}."


def waiting(*messages: str | None, variant: str = "default") -> RunSummary:
    builder = RecordBuilder(variant=variant).node("n").pod("bound", "n")
    for number, message in enumerate(messages):
        builder.pod(f"w{number}", message=message)
    return judged(builder)


def test_without_pending_pods_there_is_nothing_to_say() -> None:
    assert pending.section(of(), ENGLISH) is None
    assert pending.section(of(waiting()), ENGLISH) is None


def test_pods_with_the_same_reason_are_one_row() -> None:
    section = pending.section(of(waiting(*[NO_CPU] * 5, TAINT.format(n=1))), ENGLISH)
    first, second = rows(section, "pending")
    assert (first["pods"], first["reason"], first["refused_by"]) == (5, "Insufficient cpu", "NodeResourcesFit")
    assert first["examples"] == "default/w0, default/w1, default/w2"
    assert (second["pods"], second["refused_by"]) == (1, "TaintToleration")


def test_numbers_of_nodes_do_not_tell_reasons_apart() -> None:
    (row,) = rows(pending.section(of(waiting(*(TAINT.format(n=n) for n in range(1, 30)))), ENGLISH), "pending")
    assert row["pods"] == 29
    assert str(row["examples"]).count(",") == EXAMPLES_MAX - 1
    assert row["nodes_looked_at"] == 1


def test_runs_are_not_mixed_up() -> None:
    told = rows(
        pending.section(of(waiting(NO_CPU), waiting(NO_CPU), waiting(NO_CPU, variant="extender")), ENGLISH), "pending"
    )
    assert [(row["variant"], row["repeat"], row["pods"]) for row in told] == [
        ("default", 1, 1),
        ("default", 2, 1),
        ("extender", 1, 1),
    ]


def test_a_pod_that_no_scheduler_looked_at_says_so() -> None:
    (row,) = rows(pending.section(of(waiting(None)), ENGLISH), "pending")
    assert "no scheduler has said anything" in str(row["reason"])
    assert "default-scheduler" in str(row["reason"])


def test_every_pending_pod_is_in_a_table_with_its_reason_and_wait() -> None:
    told = rows(pending.section(of(waiting(NO_CPU, TAINT.format(n=1), NO_CPU)), ENGLISH), "pending-pods")
    assert {(row["pod"], row["reason"]) for row in told} == {
        ("default/w0", "Insufficient cpu"),
        ("default/w1", "node(s) had untolerated taint {a: b}"),
        ("default/w2", "Insufficient cpu"),
    }
    assert {row["waited_ms"] for row in told} == {9000.0}


def test_one_pod_of_each_reason_tells_its_story() -> None:
    section = pending.section(of(waiting(NO_CPU, NO_CPU)), ENGLISH)
    story = blocks(section, Fold)[0]
    assert story.title == "default/w0 of synthetic[default] default, one of 2"
    lines = [line for block in story.blocks if isinstance(block, Listing) for line in block.items]
    assert any("NodeResourcesFit: 1 Insufficient cpu" in line for line in lines)


def test_stories_are_bounded_and_it_is_said() -> None:
    reasons = [f"0/1 nodes are available: 1 reason number {number}x." for number in range(STORIES_PER_RUN_MAX + 4)]
    section = pending.section(of(waiting(*reasons)), ENGLISH)
    stories = [fold for fold in blocks(section, Fold) if "one of" in fold.title]
    assert len(stories) == STORIES_PER_RUN_MAX
    assert any("5 of 9 reasons" in getattr(block, "text", "") for block in section.blocks)  # type: ignore[union-attr]
    assert len(rows(section, "pending")) == STORIES_PER_RUN_MAX + 4


def test_pods_that_have_a_node_but_no_image_are_told() -> None:
    builder = RecordBuilder().node("n").pod("a", "n", phase="Pending")
    builder.pod_changes("a", 5.0, waits="ErrImagePull: image nginx:1: not found")
    section = pending.section(of(judged(builder)), ENGLISH)
    ((level, text),) = callouts(section)
    assert level == "warning"
    assert "nginx:1" in text
