import re
from pathlib import Path

import pytest

from tests.plugin.conftest import Collect, RunPytest, write


def test_every_option_has_the_prefix_and_an_explanation(run_pytest: RunPytest) -> None:
    text = run_pytest("--help").stdout.str()
    section = text.split("scheduler harness:")[1].split("\n\n")[0]
    options = re.findall(r"^  (-\S+?)[=\s]", section, re.MULTILINE)
    assert {"--sched-cluster", "--sched-variant", "--sched-size", "--sched-slow", "--sched-seed"} <= set(options)
    # As `harness run` calls them, and as pytest-kind would.
    unprefixed = {
        "--extender",
        "--report",
        "--kind-config",
        "--context",
        "--allow-cluster-wide",
        "--kwok-nodes",
        "--yes",
    }
    assert {option for option in options if not option.startswith("--sched-")} == unprefixed


def test_markers_are_registered_and_explained(run_pytest: RunPytest) -> None:
    text = run_pytest("--markers").stdout.str()
    for name in ("default", "extender", "second_scheduler", "framework_plugin", "embedded", "kind", "slow"):
        assert f"@pytest.mark.{name}: " in text


def test_ids_are_readable_and_every_scenario_is_a_test(collect: Collect, folder: Path) -> None:
    write(folder, "one")
    write(folder, "two", more="sizes:\n- {name: small}\n- {name: large}\n")
    assert collect() == ["one/default-default", "two/small-default", "two/large-default"]


def test_tests_are_selected_by_id_size_variant_and_marker(collect: Collect, folder: Path) -> None:
    write(folder, "one")
    write(folder, "two", more="sizes:\n- {name: small}\n- {name: large}\n")
    write(folder, "three", more="variants: [extender]\n")
    assert collect("-k", "two and large") == ["two/large-default"]
    assert collect("--sched-size", "small") == ["two/small-default"]
    assert collect("-m", "default") == ["one/default-default", "two/small-default", "two/large-default"]
    assert collect("-m", "embedded") == collect("-m", "default")
    assert collect("-m", "kind", "--sched-cluster", "embedded") == []
    assert collect("-m", "extender") == []
    extended = collect("--sched-variant", "extender")
    assert extended == ["one/default-extender", "three/default-extender", "two/small-extender", "two/large-extender"]


def test_slow_ones_wait_until_they_are_asked_for(collect: Collect, folder: Path) -> None:
    write(folder, "one", more="sizes:\n- {name: small}\n- {name: large, labels: [slow]}\n")
    assert collect() == ["one/small-default"]
    assert collect("--sched-slow") == ["one/small-default", "one/large-default"]
    assert collect("-m", "slow") == ["one/large-default"]
    assert collect("-m", "not slow") == ["one/small-default"]


def test_a_marker_names_another_folder(collect: Collect, folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    write(folder / "elsewhere", "far")
    (folder / "test_it.py").write_text(
        "import pytest\n@pytest.mark.scenarios('elsewhere')\ndef test_scenario(scenario_run):\n    pass\n"
    )
    assert collect() == ["far/default-default"]


def test_a_test_that_takes_only_a_variant_has_one_case_of_each(collect: Collect, folder: Path) -> None:
    (folder / "test_it.py").write_text("def test_own(variant):\n    pass\n")
    assert collect() == ["default"]
    assert collect("--sched-variant", "default", "--sched-variant", "extender") == ["default", "extender"]


def test_what_holds_passes_and_leaves_a_record(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    run_pytest().assert_outcomes(passed=1)
    (record,) = (folder / "reports" / "runs").iterdir()
    assert (record / "verdicts.json").is_file()
    assert (folder / "ended").exists()


def test_a_wrong_placement_is_failed_with_the_evidence(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "wrong", running=5)
    write(folder, "right")
    result = run_pytest("-rA")
    result.assert_outcomes(failed=1, passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*ExpectationFailed: wrong[[]default] default:*",
            "*- scheduler harness: wrong[[]default] default -*",
            "FAIL  wrong[[]default] default: 4 running*",
            "*REJECTED*",
            "*record: *wrong-default-default*",
        ]
    )
    assert "scheduler harness: right" not in result.stdout.str()


def test_a_broken_file_is_one_error_and_the_others_run(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "right")
    (folder / "broken.yaml").write_text("name: broken\nsummary: x\nsteps: [{op: jump}]\nexpect: []\n")
    result = run_pytest()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*broken.yaml:3: steps[[]0]*", "ERROR *test_scenario[[]broken-broken]*"])


@pytest.mark.parametrize("mark", ["default", "embedded", "default and not slow"])
def test_no_choice_of_variants_hides_a_broken_file(collect: Collect, folder: Path, mark: str) -> None:
    (folder / "broken.yaml").write_text("name: broken\nsummary: x\nsteps: [{op: jump}]\nexpect: []\n")
    assert collect("-m", mark) == ["broken-broken"]


def assert_plain(result: pytest.RunResult) -> None:
    """Check that errors are told without the lines of the harness, and each message once."""
    told = result.stdout.str().split("= ERRORS =")[1]
    for lines in ("Traceback", "During handling", "direct cause", "harness/", "    def ", "\nE  "):
        assert lines not in told


LOSES_A_PART = """
import pytest
from harness.testing import FakeCluster

@pytest.fixture(autouse=True)
def lossy(monkeypatch):
    monkeypatch.setattr(FakeCluster, "add_nodes", lambda self, nodes: self.lose("etcd exited with code 1") or ())
"""


def test_trouble_with_the_infrastructure_is_an_error(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    (folder / "test_it.py").write_text(f"{LOSES_A_PART}\ndef test_scenario(scenario_run):\n    pass\n")
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["the cluster lost a part: etcd exited with code 1*"])
    assert_plain(result)


def test_trouble_in_a_tests_own_body_is_an_error_too(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    (folder / "test_it.py").write_text(f"{LOSES_A_PART}\ndef test_own(run_scenario):\n    run_scenario('one.yaml')\n")
    result = run_pytest()
    result.assert_outcomes(errors=1)
    assert result.ret != pytest.ExitCode.OK


def test_an_unknown_provider_is_an_error_with_the_choices(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    result = run_pytest(cluster="moon")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*cluster "moon": not available; choose from: embedded*'])
    assert_plain(result)


KEY = "somebodys-own-key"
KUBECONFIG = f"""\
current-context: lab
contexts: [{{name: lab, context: {{cluster: lab, user: me}}}}]
clusters: [{{name: lab, cluster: {{server: "https://127.0.0.1:9"}}}}]
users: [{{name: me, user: {{token: {KEY}}}}}]
"""


@pytest.mark.parametrize("fixture", ["scenario_run", "cluster", "run_scenario"])
@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ((), 'context "lab": GET /version: the API server does not answer*is the cluster up[?]'),
        (("--context", "lib"), '*no context "lib"; did you mean "lab"[?]*'),
    ],
)
def test_a_cluster_that_cannot_be_used_is_told_without_anybodys_keys(
    fixture: str, chosen: tuple[str, ...], told: str, run_pytest: RunPytest, folder: Path
) -> None:
    write(folder, "one")
    (folder / "config").write_text(KUBECONFIG)
    (folder / "test_it.py").write_text(f"def test_it({fixture}):\n    pass\n")
    result = run_pytest("--kubeconfig", "config", "--showlocals", *chosen, cluster="existing")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([told])
    assert_plain(result)
    assert KEY not in result.stdout.str() + result.stderr.str()


LOSES_THE_SERVER = """
from pathlib import Path
from harness.kube import Kube

def test_own(cluster):
    Kube.connect(Path("config")).request("GET", "/version")
"""


def test_a_server_that_is_lost_within_a_test_shows_the_tests_own_lines_and_no_keys(
    run_pytest: RunPytest, folder: Path
) -> None:
    (folder / "config").write_text(KUBECONFIG)
    (folder / "test_it.py").write_text(LOSES_THE_SERVER)
    result = run_pytest("--showlocals")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['>*Kube.connect(Path("config")).request("GET", "/version")'])
    assert KEY not in result.stdout.str() + result.stderr.str()


def test_a_cluster_that_cannot_be_emptied_is_told_in_its_own_words(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_it.py").write_text(
        "import pytest\n"
        "from harness.errors import ClusterError\n"
        "from harness.run.session import Session\n"
        "@pytest.fixture(autouse=True)\n"
        "def stuck(monkeypatch):\n"
        "    def empty(self):\n"
        "        raise ClusterError('it will not be emptied')\n"
        "    monkeypatch.setattr(Session, 'empty', empty)\n"
        "def test_own(cluster):\n"
        "    pass\n"
    )
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["it will not be emptied"])
    assert_plain(result)


OWN_TESTS = """
from harness.errors import ApiError

def test_five_lines(run_scenario):
    run = run_scenario("one.yaml", seed=3)
    assert run.ok
    assert run.counts()["running"] == 4
    run.assert_held()

def test_by_hand(cluster, variant):
    assert cluster.kube.items("/api/v1/nodes") == []
    assert variant.schedulers["default-scheduler"].page("/healthz") == "ok"
    cluster.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})

def test_after_it_everything_is_gone(cluster):
    names = [item["metadata"]["name"] for item in cluster.kube.items("/api/v1/namespaces")]
    assert names == ["default"]
"""


def test_a_person_can_write_tests_with_the_fixtures(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    (folder / "test_it.py").write_text(OWN_TESTS)
    result = run_pytest("-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_five_lines[[]default]*PASSED*", "*test_by_hand[[]default]*PASSED*"])


def test_the_cluster_ends_after_a_failed_test_too(run_pytest: RunPytest, folder: Path) -> None:
    (folder / "test_it.py").write_text("def test_own(cluster):\n    assert not cluster\n")
    run_pytest().assert_outcomes(failed=1)
    assert (folder / "ended").exists()


def test_a_run_without_scenarios_imports_no_kubernetes(run_pytest: RunPytest, folder: Path) -> None:
    """The plugin is installed for every project of its environment, and must not slow down those."""
    (folder / "test_it.py").write_text(
        "import sys\ndef test_it():\n    assert not {'kubernetes', 'pandas', 'pydantic', 'locust'} & set(sys.modules)\n"
    )
    (folder / "conftest.py").write_text("")
    run_pytest("-p", "no:locust", cluster="embedded").assert_outcomes(passed=1)


def test_entry_point_and_conftest_do_not_clash(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    (folder / "conftest.py").write_text("import fakes\npytest_plugins = ['harness.pytest_plugin']\n")
    run_pytest().assert_outcomes(passed=1)


def test_the_plugin_of_locust_is_no_trouble(run_pytest: RunPytest, folder: Path) -> None:
    write(folder, "one")
    text = run_pytest("--help").stdout.str()
    assert "--sched-cluster" in text
    assert re.search(r"^ +(-H|--host)\b", text, re.MULTILINE), "locust's plugin is not loaded: this proves nothing"
    run_pytest("-H", "http://localhost").assert_outcomes(passed=1)
