from pathlib import Path
from typing import Any

import pytest

from harness.cluster.base import Workload
from harness.cluster.kind.image import Image
from harness.cluster.kind.images import Images
from harness.errors import CommandError, VariantError
from tests.unit.cluster.kind.given import Programs

NODES = ("h-control-plane", "h-worker")
LIST = "ctr -n k8s.io images ls -q"


def images(programs: Programs, *known: str, has: str = "") -> Images:
    """Return the images of a cluster; docker knows some, the nodes have others."""
    cases = {'*"images ls -q"': f"printf '%s\\n' {has}", '*"images tag"*': "true"}
    programs.put("docker", {**cases, **{f'"image inspect {name}"': "true" for name in known}, "image*": "exit 1"})
    program = programs.put("kind", {"load*": "true"})
    return Images(program, "h", NODES)


def workload(image: str | None, kind: str = "Deployment") -> Workload:
    container: dict[str, Any] = {"name": "scheduler"} | ({"image": image} if image is not None else {})
    spec = {"containers": [{"name": "extender", "image": "their/extender:1"}, container]}
    item = {"kind": kind, "spec": spec if kind == "Pod" else {"template": {"spec": spec}}}
    return Workload(item, "scheduler", "c", "k")


def test_an_image_that_was_assembled_here_is_loaded_once(programs: Programs) -> None:
    there = images(programs)
    image = Image("harness.local/x:1", Path("/images/x.tar"))
    there.load(image)
    there.load(image)
    there.load(Image("harness.local/y:1", Path("/images/y.tar")))
    assert programs.said("kind") == [
        "load image-archive /images/x.tar --name h",
        "load image-archive /images/y.tar --name h",
    ]


def test_an_image_for_one_node_is_not_taken_for_one_on_all(programs: Programs) -> None:
    there = images(programs)
    image = Image("harness.local/x:1", Path("/images/x.tar"))
    for onto in ("h-worker", "h-worker", None, "h-control-plane"):
        there.load(image, onto=onto)
    assert programs.said("kind") == [
        "load image-archive /images/x.tar --name h --nodes h-worker",
        "load image-archive /images/x.tar --name h",
    ]


def test_an_image_that_a_node_does_not_take_is_tried_again_next_time(programs: Programs) -> None:
    there = images(programs)
    programs.put("kind", {"*": "echo no space left >&2; exit 1"})
    image = Image("harness.local/x:1", Path("/images/x.tar"))
    for _ in range(2):
        with pytest.raises(CommandError, match="no space left"):
            there.load(image)


@pytest.mark.parametrize("stored", ["own/x:1", "docker.io/own/x:1", "docker.io/library/own/x:1"])
def test_what_the_nodes_have_is_not_brought(programs: Programs, stored: str) -> None:
    images(programs, has=stored).require("own/x:1")
    assert programs.calls("kind") == []
    assert programs.said("docker") == [f"exec {node} {LIST}" for node in NODES]


def test_what_only_some_nodes_have_is_brought_to_all(programs: Programs) -> None:
    there = images(programs)
    programs.put(
        "docker", {f'"exec h-control-plane {LIST}"': "echo own/x:1", f'*"{LIST}"': "true", '"image inspect"*': "true"}
    )
    there.require("own/x:1")
    assert programs.said("kind") == ["load docker-image own/x:1 --name h"]


def test_what_docker_has_is_brought_once(programs: Programs) -> None:
    there = images(programs, "own/x:1")
    there.require("own/x:1")
    there.require("own/x:1")
    assert programs.said("kind") == ["load docker-image own/x:1 --name h"]


def test_what_nobody_has_is_refused_with_the_ways_out_and_not_pulled(programs: Programs) -> None:
    told = r"image own/x:1 from docker\.io: neither .* have it, and nothing is pulled"
    with pytest.raises(VariantError, match=told) as caught:
        images(programs).require("own/x:1")
    assert "preload it: docker pull own/x:1 or docker load" in str(caught.value)
    assert "a mirror of docker.io: docker pull MIRROR/own/x:1" in str(caught.value)
    assert "--kind-image" in str(caught.value)
    assert programs.calls("kind") == []
    assert not any(call.startswith("pull") for call in programs.said("docker"))


@pytest.mark.parametrize("named", [None, "", "registry.k8s.io/kube-scheduler"])
@pytest.mark.parametrize("kind", ["Deployment", "Pod"])
def test_a_manifest_that_names_no_image_of_its_own_gets_the_clusters(
    programs: Programs, named: str | None, kind: str
) -> None:
    assert images(programs).of_workload(workload(named, kind), "stock:1") == "stock:1"
    assert programs.calls("docker") == []


def test_a_manifests_own_image_is_brought(programs: Programs) -> None:
    assert images(programs, "own/x:1").of_workload(workload("own/x:1"), "stock:1") == "own/x:1"
    assert programs.said("kind") == ["load docker-image own/x:1 --name h"]


def test_the_pause_image_of_the_nodes_stands_for_the_release_that_is_wanted(programs: Programs) -> None:
    images(programs, has="docker.io/other:1 registry.k8s.io/pause:3.9").serve_as("registry.k8s.io/pause:3.10")
    assert [call for call in programs.said("docker") if " tag " in call] == [
        f"exec {node} ctr -n k8s.io images tag registry.k8s.io/pause:3.9 registry.k8s.io/pause:3.10" for node in NODES
    ]


@pytest.mark.parametrize(
    "has",
    ["registry.k8s.io/pause:3.9 registry.k8s.io/pause:3.10", "registry.k8s.io/pause-amd64:3.9", ""],
    ids=["there already", "another image", "none"],
)
def test_otherwise_nothing_is_named_anew(programs: Programs, has: str) -> None:
    images(programs, has=has).serve_as("registry.k8s.io/pause:3.10")
    assert [call for call in programs.said("docker") if " tag " in call] == []
