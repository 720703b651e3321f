"""What `harness doctor` says about kind; the rest of it is tested with the other commands."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Harness
from tests.unit.cluster.kind.given import Programs


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """The only folder on PATH; empty."""
    return Programs(tmp_path / "bin", monkeypatch)


def found(harness: Harness) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(harness("doctor", "--json").out)["kind"]
    return facts


def line(harness: Harness) -> str:
    (only,) = [line for line in harness("doctor").out.splitlines() if line.startswith("kind ")]
    return only


def test_without_docker_it_says_so_with_the_next_move(harness: Harness, programs: Programs) -> None:
    facts = found(harness)
    assert facts["ok"] is False
    assert facts["problem"].startswith("docker is not installed; start Docker")
    assert (facts["docker"], facts["program"], facts["image"]) == (None, None, None)
    assert line(harness) == f"kind        not here: {facts['problem']}"


def test_an_engine_that_does_not_answer_is_not_taken_for_one(harness: Harness, programs: Programs) -> None:
    programs.put("docker", {"version*": "echo Cannot connect to the Docker daemon >&2; exit 1"})
    assert "docker does not answer: Cannot connect to the Docker daemon" in line(harness)


def test_missing_kind_spoils_nothing_else(harness: Harness, programs: Programs) -> None:
    document = json.loads(harness("doctor", "--json").out)
    assert "kind" in document["clusters"]
    assert document["ok"] is bool(document["go"])


def test_what_there_is_is_named(harness: Harness, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    programs.put("docker", {"version*": "echo 28.1.1"})
    program = programs.put("kind", {})
    monkeypatch.setenv("KIND_NODE_IMAGE", "own/node:1")
    assert found(harness) == {
        "ok": True,
        "problem": None,
        "docker": "28.1.1",
        "program": str(program),
        "image": "own/node:1",
    }
    assert line(harness) == f"kind        {program}, Docker 28.1.1, nodes of own/node:1"


def test_kind_itself_need_not_be_there_and_is_not_built_by_asking(harness: Harness, programs: Programs) -> None:
    programs.put("docker", {"version*": "echo 28.1.1"})
    programs.put("go", {"version": "echo go version go1.26.1 linux/amd64"})
    said = line(harness)
    assert "built on first use" in said
    assert said.endswith("nodes of kind's own image, which it pulls")
    assert [call for call in programs.said("go") if call != "version"] == []
