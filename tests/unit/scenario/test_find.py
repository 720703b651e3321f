from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario.find import find, scenario_name, select
from harness.scenario.load import load
from harness.scenario.model import Scenario
from tests.unit.scenario.given import VALID, write


def add(root: Path, place: str, name: str) -> Path:
    return write(root, "# a comment\n" + VALID.replace("name: sample", f"name: {name}"), place)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "scenarios"
    add(root, "lab/twenty-pause.yaml", "twenty-pause")
    add(root, "lab/other.yml", '"quoted" # comment')
    add(root, "lab/manifests/deployment.yaml", "never")
    add(root, "taints/repels.yaml", "repels")
    add(root, "must_fail/count.yaml", "wrong-count")
    add(root, "lab/.hidden.yaml", "hidden")
    write(root, "not a scenario", "lab/notes.txt")
    return root


def found(root: Path, *names: str) -> list[str]:
    return [path.relative_to(root).as_posix() for path in find(names, [root])]


def error(root: Path, *names: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        find(names, [root])
    return str(caught.value).replace(f"{root}", "ROOT")


def test_everything_by_default(root: Path) -> None:
    assert found(root) == ["lab/other.yml", "lab/twenty-pause.yaml", "taints/repels.yaml"]


def test_by_name(root: Path) -> None:
    assert found(root, "repels", "twenty-pause") == ["taints/repels.yaml", "lab/twenty-pause.yaml"]
    assert found(root, "quoted") == ["lab/other.yml"]
    assert found(root, "wrong-count") == ["must_fail/count.yaml"]


def test_by_path(root: Path) -> None:
    assert found(root, str(root / "taints/repels.yaml")) == ["taints/repels.yaml"]
    assert found(root, str(root / "must_fail/count.yaml")) == ["must_fail/count.yaml"]


def test_by_folder(root: Path) -> None:
    assert found(root, str(root / "lab")) == ["lab/other.yml", "lab/twenty-pause.yaml"]
    assert found(root, str(root / "must_fail")) == ["must_fail/count.yaml"]


def test_a_record_is_no_folder_of_scenarios(root: Path) -> None:
    add(root, "runs/one/inputs/scenario.yaml", "copy")
    add(root, "runs/one/scheduler-config.yaml", "configuration")
    (root / "runs/one/run.json").write_text("{}")
    assert found(root) == ["lab/other.yml", "lab/twenty-pause.yaml", "taints/repels.yaml"]


def test_by_folder_below_a_root(root: Path) -> None:
    assert found(root, "taints") == ["taints/repels.yaml"]
    assert found(root, "lab/twenty-pause.yaml") == ["lab/twenty-pause.yaml"]


def test_each_file_once(root: Path) -> None:
    assert found(root, "repels", str(root / "taints"), "repels") == ["taints/repels.yaml"]


def test_unknown_name(root: Path) -> None:
    told = 'scenario "twenty-paus": neither a path nor a scenario in ROOT; did you mean "twenty-pause"?'
    assert error(root, "twenty-paus") == told
    told = 'scenario "zzz": neither a path nor a scenario in ROOT; known: quoted, repels, twenty-pause'
    assert error(root, "zzz") == told


def test_all_unknown_names_are_told(root: Path) -> None:
    assert error(root, "aaa", "repels", "bbb").count("neither a path nor a scenario") == 2


def test_missing_path(root: Path) -> None:
    assert error(root, "scenarios/no/such.yaml") == "scenarios/no/such.yaml: no such file"


def test_two_scenarios_of_one_name(root: Path) -> None:
    add(root, "taints/copy.yaml", "repels")
    assert error(root, "repels") == (
        'scenario "repels": 2 files have this name; give a path: ROOT/taints/copy.yaml, ROOT/taints/repels.yaml'
    )


def test_what_is_no_scenario(root: Path) -> None:
    assert error(root, str(root / "lab/notes.txt")) == "ROOT/lab/notes.txt: .txt seen, a .yaml file expected"
    assert error(root, str(root / "lab/manifests/deployment.yaml")) == (
        "ROOT/lab/manifests/deployment.yaml: a file in manifests/ is a manifest, a scenario expected"
    )
    assert error(root, str(root / "lab/manifests")) == "ROOT/lab/manifests: no scenario (*.yaml) in this folder"


def test_nothing_there(tmp_path: Path) -> None:
    assert error(tmp_path) == "ROOT: no scenario (*.yaml) in this folder"
    assert error(tmp_path, "x") == 'scenario "x": neither a path nor a scenario in ROOT; known: none'
    with pytest.raises(ScenarioError) as caught:
        find([], [])
    assert str(caught.value) == "no scenario given, and none found in any folder"


def test_folder_that_lies_in_a_folder_called_manifests(tmp_path: Path) -> None:
    root = tmp_path / "manifests" / "mine"
    add(root, "a.yaml", "a")
    assert found(root) == ["a.yaml"]


def test_name_of_a_file_without_one(tmp_path: Path) -> None:
    assert scenario_name(write(tmp_path, "steps: []\n  name: inner\n")) is None
    assert scenario_name(tmp_path / "absent.yaml") is None


@pytest.fixture
def scenarios(tmp_path: Path) -> list[Scenario]:
    texts = {"a": "[lab]", "b": "[lab, slow]", "c": "[]"}
    return [load(write(tmp_path, VALID + f"labels: {labels}\n", f"{name}.yaml")).at() for name, labels in texts.items()]


@pytest.mark.parametrize(
    ("expression", "names"),
    [("", "abc"), ("lab", "ab"), ("lab,-slow", "a"), ("-slow", "ac"), (" lab , slow ", "b")],
)
def test_select(scenarios: list[Scenario], expression: str, names: str) -> None:
    assert "".join(scenario.path.stem for scenario in select(expression, scenarios)) == names


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("slwo", 'labels "slwo": no scenario fits; labels: lab, slow'),
        ("lab,", 'labels "lab,": an empty word seen; write lab,-slow'),
        ("-", 'labels "-": an empty word seen; write lab,-slow'),
    ],
)
def test_select_nothing(scenarios: list[Scenario], expression: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        select(expression, scenarios)
    assert str(caught.value) == message
