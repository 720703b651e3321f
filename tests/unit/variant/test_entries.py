import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ClusterError, InputError, VariantError
from harness.extender.entry import Entry
from harness.extender.subject.parse import parse
from harness.extender.subject.start import Running
from harness.extender.traffic import Connected
from harness.testing import FakeCluster
from harness.testing.cluster import FakeScheduler
from harness.variant.config import proven
from harness.variant.entries import check_connected, check_known

WEIGHT = "seen, a positive weight beside prioritizeVerb expected"


def known(*entries: dict[str, Any]) -> str:
    """Return what is said about entries of extenders that do not run yet."""
    subjects = [(f"e{number}", parse("cmd:sh", entry)) for number, entry in enumerate(entries, start=1)]
    try:
        check_known(subjects)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"prioritizeVerb": "p", "weight": -3}, f"extender e1 (cmd:sh): weight: -3 {WEIGHT}"),
        ({"prioritizeVerb": "p", "weight": 0}, f"extender e1 (cmd:sh): weight: 0 {WEIGHT}"),
        ({"prioritizeVerb": "p"}, f"extender e1 (cmd:sh): weight: null {WEIGHT}"),
        (
            {"filterVerb": "/filter"},
            'extender e1 (cmd:sh): filterVerb: "/filter" seen, which makes the URL end in "//filter"; write "filter"',
        ),
        (
            {"tlsConfig": {"insecure": True, "caData": "x"}},
            (
                "extender e1 (cmd:sh): tlsConfig: insecure and a CA exclude each other; kube-scheduler does not start; "
                "leave one out"
            ),
        ),
    ],
)
def test_what_kube_scheduler_would_refuse_is_told_with_the_extender_and_the_key(
    entry: dict[str, Any], told: str
) -> None:
    assert known(entry) == told


def test_only_one_extender_may_bind() -> None:
    told = known({"filterVerb": "f"}, {"bindVerb": "b"}, {"bindVerb": "b"})
    assert told.startswith("extender e3 (cmd:sh): bindVerb: a second extender that binds, only one is allowed; ")
    assert told.endswith("the first is extenders[1]")


@pytest.mark.parametrize(
    "entry",
    [
        {},
        # Whether it scores at all is asked when it runs.
        {"weight": 0},
        {"filterVerb": "f", "weight": -1},
        {"prioritizeVerb": "p", "weight": 1},
        {"urlPrefix": "/scheduler", "filterVerb": "f"},
    ],
)
def test_what_it_would_accept_or_nobody_knows_yet_is_let_through(entry: dict[str, Any]) -> None:
    assert known(entry) == ""


def test_what_was_found_out_by_asking_is_looked_at_too() -> None:
    subject = parse("http://127.0.0.1:1")

    def connected(**entry: Any) -> Connected:
        told = Entry.from_json({"urlPrefix": subject.target, **entry})
        return Connected("mine", subject.text, told, Running(subject, subject.target), None)

    check_connected([connected(prioritizeVerb="p", weight=1)])
    with pytest.raises(InputError) as caught:
        check_connected([connected(prioritizeVerb="p", weight=0)])
    assert str(caught.value) == f"extender mine (http://127.0.0.1:1): weight: 0 {WEIGHT}"


def test_the_words_of_a_scheduler_that_refuses_its_configuration_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (
        "the cluster lost a part: kube-scheduler (pid 7) exited with code 1. Last lines of its log:\n"
        'I1116 flags.go:64] FLAG: --v="2"\n'
        r'E1116 run.go:72] "command failed" err="[extenders[0].weight: Invalid value: \"\\x\": oh]"'
    )

    @contextlib.contextmanager
    def refuse(self: FakeCluster, *_: Any, **__: Any) -> Iterator[FakeScheduler]:
        raise ClusterError(said)
        yield

    monkeypatch.setattr(FakeCluster, "scheduler", refuse)
    with pytest.raises(VariantError) as caught, proven(FakeCluster(tmp_path), "kind: x", "kube-scheduler"):
        pass
    assert str(caught.value) == (
        r'kube-scheduler does not start: [extenders[0].weight: Invalid value: "\x": oh]'
        f"\nIts configuration:\nkind: x\n{said}"
    )
