"""`harness run` with something of the user's own: real extenders and taps on a fake cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.testing import FakeProvider
from tests.unit.cli.conftest import Ended, Harness
from tests.unit.extender.conftest import built_tap, cache_with_tap  # noqa: F401 - fixtures
from tests.unit.run.given import write_scenario

LEGACY = Path(__file__).parents[1] / "variant" / "legacy"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(harness: Harness, fake_provider: FakeProvider, here: Path) -> Any:
    """`harness run small` on the fake cluster."""
    path = write_scenario(here)

    def call(*arguments: object) -> Ended:
        return harness("run", "--cluster", "fake", path, *arguments)

    return call


def made(ended: Ended) -> dict[str, Any]:
    """Return what the one run of a command told."""
    (only,) = json.loads(ended.out)["runs"]
    assert isinstance(only, dict)
    return only


def extenders(run: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(run["record"]) / "extenders.json").read_text())
    return found


def operations(run: dict[str, Any]) -> list[str]:
    lines = (Path(run["record"]) / "steps.jsonl").read_text().splitlines()
    return [step["op"] for step in map(json.loads, lines) if step["phase"] == "start"]


def test_the_help_names_and_explains_each_option(harness: Harness) -> None:
    ended = harness("run", "--help")
    assert ended.code == 0
    words = " ".join(ended.out.split())
    assert "--extender SUBJECT Extender to test: URL, cmd:…, go:DIR" in words
    assert "--entry KEY=VALUE Key of the extenders[] entry" in words
    assert "--scheduler-config FILE KubeSchedulerConfiguration" in words
    assert "--fault FAULT Break calls: status,status=500" in words
    assert "--no-tap Let the scheduler call the extender directly" in words


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--extender", "ref:luky"), 'no reference "luky"; did you mean "lucky"?'),
        (("--extender", "lucky"), "did you mean ref:lucky?"),
        (("--extender", "ref:lucky", "--entry", "weight"), "--entry weight: KEY=VALUE expected"),
        (("--extender", "ref:lucky", "--entry", "wieght=1"), '--entry: wieght: unknown field; did you mean "weight"?'),
        (("--entry", "weight=1"), "--entry: it is about an extender"),
        (("--scheduler-config", "nowhere.yaml"), "error: nowhere.yaml: cannot be read: No such file or directory\n"),
        (("--manifest", "nowhere.yaml"), "error: nowhere.yaml: cannot be read: No such file or directory\n"),
        (("--extender", "ref:lucky", "--entry", "httpTimeout=abc"), "--entry: httpTimeout: 'abc' seen, a duration"),
        (("--extender", "ref:lucky", "--entry", "weight=-3"), "extender lucky (ref:lucky): weight: -3 seen, a posit"),
        (("--extender", "ref:lucky", "--entry", "weight=0"), "extender lucky (ref:lucky): weight: 0 seen, a positive"),
        (
            ("--extender", "ref:lucky", "--extender", "ref:pass-through", "--entry", "bindVerb=bind"),
            "extender pass-through (ref:pass-through): bindVerb: a second extender that binds, only one is allowed",
        ),
        (("--extender", "cmd:nosuchprog"), "cmd:nosuchprog: no program 'nosuchprog' on PATH that may be executed"),
        (("--scheduler", "cmd:nosuchprog"), "cmd:nosuchprog: no program 'nosuchprog' on PATH that may be executed"),
        (("--controller", "cmd:./nope"), "cmd:./nope: no program './nope' in "),
        (("--extender", "go:./nope"), "go:nope: no such folder"),
        (("--scheduler", "go:./nope"), "go:nope: no such folder"),
        (("--scheduler", "source:nope"), "nope: no such folder"),
        (("--scheduler", "nope"), '--scheduler "nope": one of cmd:COMMAND, go:FOLDER, image:NAME expected'),
        (("--controller", "go:./nope"), "go:nope: no such folder"),
        (("--controller", "ref:nope"), 'policy "nope": unknown; there are: random'),
        (("--plugin", "go:./nope"), "go:./nope: no folder nope"),
        (("--extender", "py:nope:X"), "py:nope:X: no module 'nope' in "),
        (("--extender", "py:nope:X", "--variant", "default", "--variant", "extender"), "no module 'nope' in "),
        (("--fault", "statsu"), '--fault statsu: kind: "statsu" seen; did you mean "status"?'),
        (("--fault", "delay,seconds=0"), "--fault delay,seconds=0: seconds: 0 seen"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_started(
    run: Harness, fake_provider: FakeProvider, options: tuple[str, ...], told: str
) -> None:
    ended = run(*options)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err
    assert fake_provider.made == []


def test_a_scenario_that_asks_for_what_is_not_there_spoils_its_own_run_only(
    harness: Harness, fake_provider: FakeProvider, here: Path
) -> None:
    good, bad = (write_scenario(here, name) for name in ("good", "bad"))
    good.write_text(f"{good.read_text()}variants: [controller]\n")
    bad.write_text(f"{bad.read_text()}variants: [controller]\ncontroller: cmd:nosuchprog\n")
    ended = harness("run", "--cluster", "fake", good, bad)
    assert ended.code == 2
    assert "ERROR bad[default] controller: cmd:nosuchprog: no program 'nosuchprog' on PATH" in ended.out
    assert "1 could not be made" in ended.out
    assert fake_provider.made
    assert harness("run", "--cluster", "fake", bad).err.startswith("error: cmd:nosuchprog: no program")
    assert len(fake_provider.made) == 1


def test_a_folder_is_no_configuration(run: Harness, here: Path) -> None:
    ended = run("--scheduler-config", here)
    assert ended.code == 2
    assert "is a directory" in ended.err


@pytest.mark.usefixtures("built_tap")
def test_ones_own_extender_is_run_with_the_variant_for_it(run: Harness) -> None:
    ended = run("--extender", "ref:lucky", "--entry", "weight=3", "--json")
    assert ended.code == 0
    only = made(ended)
    assert (only["variant"], only["ok"]) == ("extender", True)
    (told,) = extenders(only)
    assert (told["name"], told["subject"], told["tapped"]) == ("lucky", "ref:lucky", True)
    assert told["entry"]["weight"] == 3


@pytest.mark.usefixtures("built_tap")
def test_several_variants_can_be_named_and_only_one_gets_the_extender(run: Harness) -> None:
    ended = run("--extender", "ref:lucky", "--variant", "default", "--variant", "extender", "--json")
    records = {one["variant"]: Path(one["record"]) for one in json.loads(ended.out)["runs"]}
    assert {name: (path / "extenders.json").exists() for name, path in records.items()} == {
        "default": False,
        "extender": True,
    }


@pytest.mark.usefixtures("built_tap")
def test_faults_come_before_the_scenarios_own_steps(run: Harness) -> None:
    only = made(run("--fault", "status,status=500,verb=filter", "--fault", "hang,verb=bind", "--json"))
    assert only["variant"] == "extender"
    assert operations(only) == ["fault", "fault", "createPods", "settle"]
    assert extenders(only)[0]["subject"] == "ref:pass-through"


@pytest.mark.usefixtures("built_tap")
def test_a_tap_can_be_left_out_but_then_nothing_can_be_broken(run: Harness) -> None:
    only = made(run("--extender", "ref:pass-through", "--no-tap", "--json"))
    assert only["ok"]
    assert extenders(only)[0]["tapped"] is False
    ended = run("--extender", "ref:pass-through", "--no-tap", "--fault", "hang")
    assert ended.code == 2
    assert "step 1 (fault): extender pass-through has no tap, and only a tap can inject faults" in ended.out


def test_nothing_can_be_broken_where_there_is_no_extender(run: Harness) -> None:
    ended = run("--fault", "hang", "--variant", "default")
    assert ended.code == 2
    assert "--fault: variant default does not use it; it is for extender and second-scheduler" in ended.err


@pytest.mark.usefixtures("built_tap")
def test_a_legacy_configuration_is_translated_and_that_is_told(run: Harness) -> None:
    config = LEGACY / "lucky-config.yaml"
    only = made(run("--scheduler-config", config, "--extender", "ref:lucky", "--json"))
    assert only["variant"] == "extender"
    (warning,) = only["warnings"]
    assert warning.startswith(f"{config}: translated to v1 with 4 changes")


def test_an_extender_that_does_not_come_up_is_infrastructure_and_says_why(run: Harness) -> None:
    ended = run("--extender", "cmd:false {port}")
    assert ended.code == 3
    assert "cmd:false {port}" in ended.out + ended.err


@pytest.mark.usefixtures("built_tap")
def test_ones_own_extender_stands_in_for_that_of_a_scenario(run: Harness, here: Path) -> None:
    path = here / "small.yaml"
    path.write_text(f"{path.read_text()}extenders: [{{subject: 'ref:lucky', name: drawn}}]\n")
    (told,) = extenders(made(run("--json")))
    assert (told["name"], told["subject"]) == ("drawn", "ref:lucky")
    (told,) = extenders(made(run("--extender", "ref:pass-through", "--json")))
    assert (told["name"], told["subject"]) == ("drawn", "ref:pass-through")


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("file: {path: /etc/kubernetes/policy.cfg}", "put it beside this file"),
        ("configMap: {name: mine}", "policy.cfg at the end of this file, after a line ---"),
    ],
)
def test_advice_about_a_missing_policy_fits_the_command(run: Harness, here: Path, reference: str, told: str) -> None:
    (here / "old.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
        f"algorithmSource: {{policy: {{{reference}}}}}\n"
    )
    ended = run("--scheduler-config", here / "old.yaml")
    assert ended.code == 2
    assert told in ended.err
    assert "--policy" not in ended.err


def test_a_policy_that_is_no_text_is_refused(run: Harness, here: Path) -> None:
    (here / "old.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
        "algorithmSource: {policy: {file: {path: policy.cfg}}}\n"
    )
    (here / "policy.cfg").write_bytes(b"kind: Policy\n# \xff\n")
    ended = run("--scheduler-config", here / "old.yaml")
    assert ended.code == 2
    assert "policy.cfg:2: cannot be read: byte 0xff is not UTF-8" in ended.err
