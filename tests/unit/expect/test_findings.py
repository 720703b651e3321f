import re
from pathlib import Path
from typing import Any

import pytest

from harness.expect.finding import MOVES, SEVERITIES, Finding
from harness.expect.findings import findings
from harness.expect.judge import judge
from tests.unit.expect.records import RecordBuilder

ROOT = Path(__file__).parents[3]
NOTICES = ROOT / "harness" / "extender" / "reply" / "notices.py"
REFERENCE = ROOT / "docs" / "reference" / "scenario.md"


def notice(code: str, text: str = "node-9 kept, but not in the request; kube-scheduler fails the attempt") -> Any:
    return ({"code": code, "text": text},)


def with_extender(*expect: Any, **entry: Any) -> RecordBuilder:
    builder = RecordBuilder(*expect).extender(**entry)
    return builder.node("n1").node("n2").pod("a", "n1").pod("b", "n2")


def sound(*expect: Any, **entry: Any) -> RecordBuilder:
    """An extender with which nothing is wrong: both pods filtered and prioritized."""
    builder = with_extender(*expect, **entry)
    for pod in "ab":
        builder.call("filter", pod, nodes_in=2, nodes_out=2).call("prioritize", pod, nodes_in=2)
    return builder


def found(builder: RecordBuilder, **how: bool) -> dict[str, Finding]:
    every = findings(builder.build(), **how)
    by_code = {finding.code: finding for finding in every}
    assert len(by_code) == len(every), "each code once per extender"
    return by_code


def test_nothing_is_wrong_with_a_sound_extender_or_without_one() -> None:
    assert not found(sound())
    assert not findings(RecordBuilder().node("n").pod("a", "n").build())


def test_every_code_that_replies_lead_to_has_its_severity_and_next_move() -> None:
    codes = set(re.findall(r'Notice\(\s*"([a-z-]+)"', NOTICES.read_text(encoding="utf-8")))
    assert len(codes) > 10
    assert codes <= set(SEVERITIES)
    assert codes <= set(MOVES) <= set(SEVERITIES)


def test_every_code_is_documented_in_the_order_of_severity() -> None:
    section = REFERENCE.read_text(encoding="utf-8").partition("## Codes of findings")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", section, re.MULTILINE)
    assert told == list(SEVERITIES.items())


def test_notices_of_the_same_code_are_one_finding_with_examples() -> None:
    builder = sound().call("filter", "a", 2.0, notices=notice("ghost-node", "x kept; bad."))
    builder.call("filter", "b", 3.0, notices=notice("ghost-node", "y kept; bad"))
    builder.call("filter", "b", 4.0, notices=notice("ghost-node", "y kept; bad"))
    finding = found(builder)["ghost-node"]
    assert (finding.count, finding.extender, finding.severity) == (3, "ext", "critical")
    assert finding.text == (
        "extender ext: x kept; bad, and so in 3 calls about a, b; answer only with nodes of the request"
    )
    assert finding.evidence == ("filter for a at 2.00 s: x kept; bad", "filter for b at 3.00 s: y kept; bad")


def test_a_call_with_two_notices_of_a_code_counts_once() -> None:
    builder = sound().call("filter", "a", 2.0, notices=(*notice("ghost-node", "x"), *notice("ghost-node", "y")))
    assert found(builder)["ghost-node"].count == 1


def test_the_worst_comes_first_and_strangers_last() -> None:
    codes = ("empty-text", "never-heard-of", "ghost-node", "not-found")
    builder = sound()
    for code in codes:
        builder.call("filter", "a", 2.0, notices=notice(code))
    assert list(found(builder)) == ["ghost-node", "not-found", "empty-text", "never-heard-of"]


def test_what_a_fault_caused_is_left_out_unless_asked_for() -> None:
    builder = sound().call("filter", "a", 2.0, fault="status 500", notices=notice("bad-status"))
    builder.call("filter", "a", 3.0, fault="hang", ending="aborted", status=None, seconds=5.0)
    assert not found(builder)
    assert set(found(builder, provoked=True)) == {"bad-status", "timed-out"}


def test_findings_keep_extenders_apart() -> None:
    builder = sound().extender("other", prioritizeVerb="")
    builder.call("filter", "a", 2.0, extender="other", notices=notice("not-found"))
    builder.call("filter", "a", 3.0, notices=notice("not-found"))
    assert [(one.extender, one.count) for one in findings(builder.build())] == [("ext", 1), ("other", 1)]


def test_late_replies() -> None:
    builder = sound(httpTimeout="2s").call("filter", "a", 2.0, seconds=1.5)
    builder.call("filter", "a", 4.0, seconds=2.0, ending="aborted", status=None)
    seen = found(builder)
    assert set(seen) == {"slow-reply", "timed-out"}
    assert "took up to 1.50 s of 2 s httpTimeout in 1 call about a" in seen["slow-reply"].text
    assert "within httpTimeout (2 s)" in seen["timed-out"].text


def test_replies_in_time_and_calls_of_a_scheduler_that_stops_are_not_late() -> None:
    builder = sound(httpTimeout="2s").call("filter", "a", 2.0, seconds=0.9)
    builder.call("filter", "a", 4.0, seconds=0.5, ending="aborted", status=None)
    assert not found(builder)
    assert not found(sound(httpTimeout="-1s").call("filter", "a", 2.0, seconds=99.0))


def test_a_bind_without_a_binding() -> None:
    builder = sound(bindVerb="bind").pod("c").call("bind", "c", 2.0).call("bind", "a", 2.0)
    finding = found(builder)["bind-without-binding"]
    assert (finding.count, finding.evidence) == (1, ("bind for c at 2.00 s: no binding until 10.00 s",))


def test_a_bind_that_failed_or_that_just_happened_is_none() -> None:
    builder = sound(bindVerb="bind").pod("c").call("bind", "c", 2.0, error="locked").call("bind", "c", 9.5)
    assert not found(builder)
    deleted = sound(bindVerb="bind").pod("c", deleted_t=2.5).call("bind", "c", 2.0)
    assert not found(deleted)


def test_texts_that_change_from_attempt_to_attempt() -> None:
    builder = sound().pod("c", message="x")
    for t in (2.0, 3.0, 4.0):
        builder.call("filter", "c", t, nodes_in=2, nodes_out=0, reasons={f"no room at {t}": 2})
    finding = found(builder)["text-changes"]
    assert (finding.count, finding.severity) == (1, "high")
    assert finding.evidence == ('filter for c at 3.00 s: "no room at 2.0", then "no room at 3.0"',)


def test_texts_that_stay_or_are_about_other_nodes_do_not_change() -> None:
    builder = sound().pod("c", message="x")
    builder.call("filter", "c", 2.0, nodes_in=1, nodes_out=0, reasons={"promised": 1})
    for t in (3.0, 4.0):
        builder.call("filter", "c", t, nodes_in=2, nodes_out=0, reasons={"no gpu": 2})
    builder.call("filter", "c", 5.0, nodes_in=2, nodes_out=1, reasons={"full": 1})
    assert not found(builder)


@pytest.mark.parametrize(
    ("nodes_in", "nodes_out", "cause"),
    [
        (1, 1, "no pod had two nodes to choose from"),
        (2, 1, "its filter never left two nodes"),
        (2, 2, "did not come so far"),
    ],
)
def test_prioritize_that_is_never_called(nodes_in: int, nodes_out: int, cause: str) -> None:
    builder = with_extender().call("filter", "a", nodes_in=nodes_in, nodes_out=nodes_out)
    finding = found(builder)["prioritize-never-called"]
    assert cause in finding.text


def test_prioritize_is_not_missed_when_nothing_was_left_or_it_is_not_configured() -> None:
    assert not found(with_extender().call("filter", "a", nodes_in=2, nodes_out=0))
    assert not found(with_extender(prioritizeVerb="").call("filter", "a", nodes_in=2, nodes_out=2))
    faulted = with_extender().call("filter", "a", nodes_in=2, nodes_out=2)
    assert not found(faulted.call("prioritize", "a", fault="status 500"))


@pytest.mark.parametrize(("version", "blind"), [("1.32.9", False), ("v1.33.0", True), ("1.36.3", True), ("", False)])
def test_blind_scoring_depends_on_the_version(version: str, blind: bool) -> None:
    builder = sound(nodeCacheCapable=False)
    builder.versions = {"kubernetes": version}
    seen = found(builder)
    assert ("blind-scoring" in seen) is blind
    if blind:
        assert "kubernetes#141781" in seen["blind-scoring"].text
        assert seen["blind-scoring"].count == 2


def test_nothing_is_blind_when_nothing_is_filtered_or_only_names_are_sent() -> None:
    scoring = with_extender(nodeCacheCapable=False, filterVerb="").call("prioritize", "a")
    assert not found(scoring)
    assert not found(sound(nodeCacheCapable=True))
    assert set(found(with_extender(nodeCacheCapable=False))) == {"never-called"}


def test_without_a_tap_the_configuration_tells_enough() -> None:
    builder = RecordBuilder().extender(tapped=False, nodeCacheCapable=False).node("n").pod("a", "n")
    assert set(found(builder)) == {"blind-scoring"}


def test_nothing_is_blind_when_filter_never_worked() -> None:
    builder = with_extender(nodeCacheCapable=False).call("filter", "a", status=500, error="status 500", nodes_in=2)
    assert "blind-scoring" not in found(builder)


def test_a_verb_that_never_worked() -> None:
    builder = with_extender().call("filter", "a", status=200, error="KeyError: 'gpu'", nodes_in=2)
    builder.call("filter", "b", 2.0, status=200, error="KeyError: 'cpu'", nodes_in=2)
    finding = found(builder)["error-reply"]
    assert "answered filter with Error every time, in 2 calls about a, b: KeyError: 'gpu'" in finding.text
    assert finding.count == 2
    assert "error-reply" not in found(builder.call("filter", "c", 3.0, nodes_in=2, nodes_out=2))


def test_replies_that_were_cut_off() -> None:
    builder = sound().call("filter", "a", 2.0, status=None, ending="cut")
    builder.call("filter", "b", 3.0, ending="cut", response_bytes=5, notices=notice("bad-reply", "unexpected EOF"))
    seen = found(builder)
    assert set(seen) == {"cut-off"}
    assert seen["cut-off"].evidence == (
        "filter for a at 2.00 s: 0 bytes of a reply came",
        "filter for b at 3.00 s: 5 bytes of a reply came",
    )


def test_an_ignorable_binder() -> None:
    assert set(found(sound(bindVerb="bind", ignorable=True))) == {"ignorable-bind"}
    assert not found(sound(ignorable=True))


EXPECT = {"kind": "findings", "codes": ["not-found", "bad-reply"]}


def test_exactly_the_demanded_codes_hold() -> None:
    builder = sound(EXPECT).call("filter", "a", 2.0, notices=notice("bad-reply"))
    builder.call("prioritize", "a", 3.0, notices=notice("not-found"))
    verdict = judge(builder.build())[0]
    assert (verdict.status, verdict.expected, verdict.seen) == ("held", "bad-reply, not-found", "not-found, bad-reply")
    assert judge(sound({"kind": "findings", "codes": []}).build())[0].status == "held"


def test_a_code_too_few_or_too_many_is_rejected() -> None:
    few = judge(sound(EXPECT).call("filter", "a", 2.0, notices=notice("bad-reply")).build())[0]
    assert (few.status, few.evidence[0]) == ("rejected", "not-found was not found")
    many = sound({"kind": "findings", "codes": []}).call("filter", "a", 2.0, notices=notice("bad-reply"))
    assert judge(many.build())[0].status == "rejected"
    wrong = judge(sound({"kind": "findings", "codes": ["not-fuond"]}).build())[0]
    assert wrong.evidence[0] == 'not-fuond was not found; no finding has this code; did you mean "not-found"?'


def test_findings_of_one_extender_and_provoked_ones() -> None:
    only = {"kind": "findings", "codes": [], "extender": "ext"}
    builder = sound(only).extender("other", prioritizeVerb="")
    builder.call("filter", "a", 2.0, extender="other", notices=notice("not-found"))
    assert judge(builder.build())[0].status == "held"
    provoked = {"kind": "findings", "codes": ["bad-status"], "provoked": True}
    builder = sound(provoked).call("filter", "a", 2.0, fault="status 500", notices=notice("bad-status"))
    assert judge(builder.build())[0].status == "held"


def test_without_a_tap_nothing_was_looked_at() -> None:
    verdict = judge(RecordBuilder({"kind": "findings", "codes": []}).build())[0]
    assert (verdict.status, verdict.evidence) == ("rejected", ("no extender was tapped in this run",))
