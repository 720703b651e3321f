"""Tests that need kind, where it is and where it is not."""

from pathlib import Path

import pytest

from tests.plugin.conftest import Collect, RunPytest, write

MARKED = """
import pytest

@pytest.mark.kind
def test_marked():
    pass

def test_other():
    pass
"""


@pytest.fixture
def without_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("HARNESS_REQUIRE_KIND", raising=False)


@pytest.fixture
def with_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An engine that answers whatever it is asked."""
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho 1.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.usefixtures("without_docker")
def test_a_marked_test_is_skipped_with_the_reason(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_it.py").write_text(MARKED)
    result = run_pytest("-rs")
    result.assert_outcomes(skipped=1, passed=1)
    result.stdout.fnmatch_lines(
        ["SKIPPED*kind: docker is not installed; start Docker, or run on the embedded cluster*"]
    )


@pytest.mark.usefixtures("without_docker")
def test_where_kind_is_required_it_fails_instead(
    run_pytest: RunPytest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "test_it.py").write_text(MARKED)
    monkeypatch.setenv("HARNESS_REQUIRE_KIND", "1")
    result = run_pytest()
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*kind is required here (HARNESS_REQUIRE_KIND): docker is not installed*"])
    monkeypatch.setenv("HARNESS_REQUIRE_KIND", "0")
    run_pytest().assert_outcomes(skipped=1, passed=1)


@pytest.mark.usefixtures("without_docker")
def test_whatever_would_bring_up_a_kind_cluster_is_skipped(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    (folder / "test_own.py").write_text("def test_own(cluster):\n    pass\n\ndef test_without():\n    pass\n")
    run_pytest(cluster="kind").assert_outcomes(skipped=2, passed=1)


@pytest.mark.usefixtures("with_docker")
def test_where_docker_answers_nothing_is_skipped(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_it.py").write_text(MARKED)
    run_pytest().assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("kind", True),
        ("kind and not slow", True),
        ("default or kind", True),
        ("not kind", False),
        ("not (kind or slow)", False),
        ("default", False),
        ("not slow", False),
    ],
)
def test_who_asks_for_tests_of_kind_gets_them_on_kind(
    collect: Collect, folder: Path, expression: str, chosen: bool
) -> None:
    write(folder, "here", more="clusters: [embedded]\n")
    write(folder, "there", more="clusters: [kind]\n")
    assert collect("-m", expression) == [f"{'there' if chosen else 'here'}/default-default"]


@pytest.mark.usefixtures("without_docker")
def test_asked_for_by_marker_alone_they_fail_where_kind_is_required(
    pytester: pytest.Pytester, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "one")
    monkeypatch.setenv("HARNESS_REQUIRE_KIND", "1")
    result = pytester.runpytest_subprocess("-m", "kind", "--sched-variant", "default", "-p", "no:xdist", timeout=300)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*kind is required here (HARNESS_REQUIRE_KIND): docker is not installed*"])


def test_what_is_not_declared_for_a_provider_is_no_test_there(collect: Collect, folder: Path) -> None:
    write(folder, "anywhere")
    write(folder, "here", more="clusters: [embedded]\n")
    write(folder, "there", more="clusters: [kind, existing]\n")
    assert collect() == ["anywhere/default-default", "here/default-default"]
    assert collect("--sched-cluster", "kind") == ["anywhere/default-default", "there/default-default"]
    assert collect("--sched-cluster", "kind", "-m", "kind") == collect("--sched-cluster", "kind")
    assert collect("--sched-cluster", "existing", "-m", "existing") == collect("--sched-cluster", "existing")


def test_what_differs_on_a_provider_counts_there(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    text = (folder / "one.yaml").read_text().replace("running: 4", "running: $pods").replace("count: 4", "count: $pods")
    differs = "parameters: {pods: 4}\non:\n  embedded: {because: it is small, parameters: {pods: 3}}\n"
    (folder / "one.yaml").write_text(text + differs)
    (folder / "conftest.py").write_text(
        "import fakes\nfrom harness.cluster.registry import CLUSTERS\n"
        "CLUSTERS.built_in['embedded'] = CLUSTERS.built_in['fake']\n"
    )
    (folder / "test_it.py").write_text(
        "def test_scenario(scenario_run):\n"
        "    scenario_run.assert_held()\n"
        "    assert scenario_run.counts()['total'] == 3\n"
        "    assert scenario_run.record.scenario.on['embedded'].because == 'it is small'\n"
    )
    run_pytest(cluster="embedded").assert_outcomes(passed=1)
