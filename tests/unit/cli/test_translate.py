import json
from pathlib import Path

import pytest
import yaml

from tests.unit.cli.conftest import Harness

LEGACY = Path(__file__).parents[1] / "variant" / "legacy"
POLICY = '{"kind": "Policy", "extenders": [{"urlPrefix": "http://127.0.0.1:8888", "filterVerb": "filter"}]}'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration whose Policy is on another machine."""
    path = tmp_path / "config.yaml"
    path.write_text((LEGACY / "lucky-config.yaml").read_text())
    return path


def test_the_configuration_is_printed_and_the_changes_are_told(harness: Harness) -> None:
    ended = harness("translate", LEGACY / "lucky-config.yaml")
    assert ended.code == 0
    assert yaml.safe_load(ended.out)["extenders"][0]["prioritizeVerb"] == "prioritize"
    assert "lucky-policy.json:9: extenders[0].enableHttps: is enableHTTPS" in ended.err
    assert ended.err.endswith("4 changes\n")


def test_a_policy_from_elsewhere_is_given(harness: Harness, config: Path, tmp_path: Path) -> None:
    ended = harness("translate", config)
    assert ended.code == 2
    told = (
        'config.yaml:7: algorithmSource.policy: the Policy file "/etc/kubernetes/lucky-policy.json" is not there; give'
    )
    assert told in ended.err
    policy = tmp_path / "elsewhere.json"
    policy.write_text(POLICY)
    ended = harness("translate", config, "--policy", policy)
    assert yaml.safe_load(ended.out)["extenders"] == [{"urlPrefix": "http://127.0.0.1:8888", "filterVerb": "filter"}]
    ended = harness("translate", LEGACY / "v1.yaml", "--policy", policy)
    assert ended.code == 2
    assert "refers to no Policy; leave --policy out" in ended.err


def test_a_policy_is_found_relative_to_the_configuration(harness: Harness, config: Path) -> None:
    config.write_text(config.read_text().replace("/etc/kubernetes/lucky-policy.json", "below/policy.json"))
    (config.parent / "below").mkdir()
    (config.parent / "below" / "policy.json").write_text(POLICY)
    assert harness("translate", config).code == 0


def test_one_json_document(harness: Harness) -> None:
    ended = harness("translate", LEGACY / "alpha2.yaml", "--json")
    document = json.loads(ended.out)
    assert ended.err == ""
    assert document["config"]["extenders"][0]["httpTimeout"] == "1m30s"
    assert {"file", "line", "path", "kind", "text"} == document["changes"][0].keys()
    assert len(document["warnings"]) == 1


def test_a_check_prints_no_configuration_and_fails_on_any_change(harness: Harness) -> None:
    ended = harness("translate", LEGACY / "beta2.yaml", "--check")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("3 changes\n")
    ended = harness("translate", LEGACY / "v1.yaml", "--check")
    assert (ended.code, ended.out, ended.err) == (0, "", "nothing to change\n")
    assert harness("translate", LEGACY / "beta2.yaml", "--check", "--json").code == 1


def test_what_cannot_be_read_is_told(harness: Harness, tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing.yaml", tmp_path / "binary.yaml"
    binary.write_bytes(b"kind: Policy\n\xff")
    assert "missing.yaml: cannot be read: No such file" in harness("translate", missing).err
    ended = harness("translate", binary)
    assert (ended.code, "binary.yaml:2: cannot be read: byte 0xff is not UTF-8" in ended.err) == (2, True)
    assert harness("translate", tmp_path).code == 2
