from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.kind.config import cluster_config, read_config, worker_count
from harness.errors import InputError

SHARED = Path("/somewhere/shared")
MOUNT = {"hostPath": "/somewhere/shared", "containerPath": "/harness"}


def roles(config: dict[str, Any]) -> list[str]:
    return [node["role"] for node in config["nodes"]]


def test_without_a_configuration_of_the_users_there_is_one_control_plane_and_the_workers() -> None:
    config = cluster_config(2, SHARED)
    assert (config["kind"], config["apiVersion"]) == ("Cluster", "kind.x-k8s.io/v1alpha4")
    assert roles(config) == ["control-plane", "worker", "worker"]
    assert set(config) == {"kind", "apiVersion", "nodes"}


def test_no_worker_is_a_cluster_too() -> None:
    assert roles(cluster_config(0, SHARED)) == ["control-plane"]


def test_every_node_sees_the_shared_folder_at_one_place() -> None:
    assert [node["extraMounts"] for node in cluster_config(3, SHARED)["nodes"]] == [[MOUNT]] * 4


def test_the_control_plane_alone_gets_a_name_that_scenarios_can_spell() -> None:
    leader, worker = cluster_config(1, SHARED)["nodes"]
    (patch,) = leader["kubeadmConfigPatches"]
    assert yaml.safe_load(patch) == {"kind": "InitConfiguration", "nodeRegistration": {"name": "control-plane"}}
    assert "kubeadmConfigPatches" not in worker


def test_what_the_user_says_about_nodes_is_kept() -> None:
    own = {
        "nodes": [
            {"role": "worker", "labels": {"disk": "ssd"}, "extraMounts": [{"hostPath": "/a", "containerPath": "/b"}]},
            {"role": "control-plane", "kubeadmConfigPatches": ["kind: InitConfiguration\n"], "image": "node:2"},
            {"role": "worker", "image": "node:1"},
        ]
    }
    config = cluster_config(3, SHARED, own)
    leader, first, second, added = config["nodes"]
    assert first["labels"] == {"disk": "ssd"}
    assert first["extraMounts"] == [{"hostPath": "/a", "containerPath": "/b"}, MOUNT]
    assert (leader["image"], second["image"]) == ("node:2", "node:1")
    assert leader["kubeadmConfigPatches"][0] == "kind: InitConfiguration\n"
    # The last one wins, and that is the name.
    assert "control-plane" in leader["kubeadmConfigPatches"][1]
    assert added == {"role": "worker", "extraMounts": [MOUNT]}


def test_a_node_without_a_role_is_the_control_plane_as_kind_has_it() -> None:
    config = cluster_config(1, SHARED, {"nodes": [{"image": "node:1"}]})
    assert roles(config) == ["control-plane", "worker"]
    assert config["nodes"][0]["image"] == "node:1"


def test_everything_else_of_the_users_stands_as_it_is() -> None:
    own = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "featureGates": {"DynamicResourceAllocation": True},
        "runtimeConfig": {"api/all": "true"},
        "networking": {"ipFamily": "dual"},
        "containerdConfigPatches": ["[plugins]\n"],
    }
    config = cluster_config(1, SHARED, own)
    assert {key: config[key] for key in own} == own


def test_the_users_own_value_is_not_touched() -> None:
    own = {"nodes": [{"role": "control-plane", "extraMounts": []}, {"role": "worker"}]}
    before = yaml.safe_dump(own)
    cluster_config(3, SHARED, own)
    assert yaml.safe_dump(own) == before


@pytest.mark.parametrize("nodes", [None, []])
def test_an_empty_list_of_nodes_says_nothing(nodes: list[Any] | None) -> None:
    assert roles(cluster_config(1, SHARED, {"nodes": nodes})) == ["control-plane", "worker"]


def test_more_workers_than_are_wanted_all_stay() -> None:
    own = {"nodes": [{"role": "worker"}] * 3}
    assert roles(cluster_config(1, SHARED, own)) == ["control-plane", "worker", "worker", "worker"]


@pytest.mark.parametrize("role", [{"role": "control-plane"}, {}])
def test_several_control_planes_are_refused(role: dict[str, str]) -> None:
    with pytest.raises(InputError, match="2 control planes; one is what is tested"):
        cluster_config(1, SHARED, {"nodes": [{"role": "control-plane"}, role]})


@pytest.mark.parametrize(
    ("own", "seen"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, "Pod of v1 seen, Cluster expected"),
        ({"kind": "Config"}, "Config of kind.x-k8s.io/v1alpha4 seen"),
        ({"apiVersion": "kubeadm.k8s.io/v1beta4"}, r"Cluster of kubeadm\.k8s\.io/v1beta4 seen"),
    ],
)
def test_what_is_no_configuration_of_kinds_is_refused(own: dict[str, Any], seen: str) -> None:
    with pytest.raises(InputError, match=seen):
        cluster_config(1, SHARED, own)


@pytest.mark.parametrize(
    ("declared", "listed", "chosen", "expected"),
    [
        (0, None, None, 3),
        (0, 0, None, 3),
        (0, 5, None, 5),
        (2, None, None, 2),
        (2, 4, None, 4),
        (6, 4, None, 6),
        (6, 4, 1, 1),
        (0, None, 7, 7),
    ],
)
def test_how_many_workers_there_are(declared: int, listed: int | None, chosen: int | None, expected: int) -> None:
    """What was chosen counts; else what is declared, but never fewer than the user lists; else the fallback."""
    workers = [{"role": "worker"}] * (listed or 0)
    own = None if listed is None else {"nodes": [{"role": "control-plane"}, {}, *workers]}
    assert worker_count(declared, own, chosen, 3) == expected


def test_a_configuration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kind.yaml"
    path.write_text("kind: Cluster\nnodes:\n- role: worker\n")
    assert read_config(path) == {"kind": "Cluster", "nodes": [{"role": "worker"}]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: .*No such file"),
        (b"\xff\xfe\xff", "cannot be read: "),
        (b"kind: [", "no YAML: "),
        (b"- one\n", r"a mapping expected, a Cluster of kind\.x-k8s\.io/v1alpha4"),
        (b"", "a mapping expected"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"mine\.yaml: {said}"):
        read_config(path)
