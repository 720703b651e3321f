import io
import sys
from pathlib import Path

import pytest

from harness.cluster.kind import creation
from harness.cluster.kind.containers import LABEL, shared_folder
from harness.cluster.kind.creation import Creation, delete
from harness.errors import ClusterError, CommandError, InputError
from harness.process import spawn
from tests.processes import PATIENCE_SECONDS, is_gone
from tests.unit.cluster.kind.given import Engine, KindKube

CONFIG = """\
kind: Cluster
nodes:
- role: control-plane
  extraMounts:
  - containerPath: /harness
    hostPath: /somewhere/shared
- role: worker
- role: worker
"""


class World:
    """A place to create clusters from."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder / "cluster"
        self.folder.mkdir()
        self.kubeconfig = self.folder / "kubeconfig"
        self.config = self.folder / "kind.yaml"
        self.config.write_text(CONFIG)

    def creation(self, name: str = "h", image: str | None = None) -> Creation:
        program = self.engine.programs.folder / "kind"
        return Creation(name, self.folder, program, image, self.kubeconfig)

    def commands(self) -> list[str]:
        """Return what kind was told, in two words each."""
        return [" ".join(call[:2]) for call in self.engine.programs.calls("kind")]

    def removed(self) -> list[str]:
        return [call for call in self.engine.programs.said("docker") if call.startswith("rm")]


@pytest.fixture
def world(engine: Engine, tmp_path: Path) -> World:
    return World(engine, tmp_path)


def test_a_cluster_is_created_and_deleted_when_the_context_ends(world: World) -> None:
    with world.creation(image="own/node:1").created(world.config):
        assert world.engine.containers() == ["h-worker", "h-worker2", "h-control-plane"]
        (create,) = [call for call in world.engine.programs.calls("kind") if call[0] == "create"]
        assert create == [
            "create",
            "cluster",
            "--name=h",
            f"--kubeconfig={world.kubeconfig}",
            "--image=own/node:1",
            "--config",
            str(world.config),
        ]
    assert world.commands() == ["get clusters", "create cluster", "delete cluster"]
    assert world.engine.containers() == []
    assert world.removed() == []


def test_without_an_image_the_choice_is_kinds(world: World) -> None:
    with world.creation().created(world.config):
        assert not any("--image" in call for call in world.engine.programs.said("kind"))


def test_only_its_owner_reads_the_kubeconfig(world: World) -> None:
    world.kubeconfig.touch(0o644)
    with world.creation().created(world.config):
        assert "of-the-administrator" in world.kubeconfig.read_text()
        assert world.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_nothing_is_made_where_the_user_is(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with world.creation().created(world.config):
        pass
    assert list((tmp_path / "here").iterdir()) == []
    assert Path.cwd() == tmp_path / "here"


def test_kinds_failure_carries_what_it_said_and_what_it_left_is_removed(world: World) -> None:
    said = "echo 'Creating cluster' >&2; echo 'ERROR: failed to pull image \"node:9\"' >&2; exit 1"
    world.engine.put_kind({'"create cluster"*': said})
    with pytest.raises(CommandError) as caught, world.creation().created(world.config):
        pytest.fail("there is no cluster")
    assert "kind create cluster --name=h: exit code 1" in str(caught.value)
    assert 'ERROR: failed to pull image "node:9"' in str(caught.value)
    assert caught.value.command_exit_code == 1
    assert world.commands()[-1] == "delete cluster"


def test_a_node_image_that_cannot_be_pulled_is_told_with_the_ways_out(world: World) -> None:
    said = (
        'ERROR: failed to create cluster: failed to pull image "far.example/team/node:9": command "docker pull '
        'far.example/team/node:9" failed with error: exit status 1\n\n'
        "Command Output: Error response from daemon: dial tcp: lookup far.example on 127.0.0.53:53: no such host"
    )
    world.engine.put_kind({'"create cluster"*': f"printf '%s\n' '{said}' >&2; exit 1"})
    with pytest.raises(CommandError) as caught, world.creation().created(world.config):
        pytest.fail("there is no cluster")
    assert said in str(caught.value)
    assert str(caught.value).splitlines()[-1] == (
        "image far.example/team/node:9 from far.example: the registry's name is unknown here. Ways out: "
        "preload it: docker pull far.example/team/node:9 or docker load --input FILE, of what docker save wrote "
        "elsewhere; "
        "a mirror of far.example: docker pull MIRROR/team/node:9, then docker tag it far.example/team/node:9; "
        "another node image, which this machine has: --kind-image or KIND_NODE_IMAGE"
    )


def test_of_a_long_story_the_end_is_told(world: World) -> None:
    world.engine.put_kind({'"create cluster"*': "seq 1 500 | sed 's/^/line /' >&2; exit 7"})
    with pytest.raises(CommandError) as caught, world.creation().created(world.config):
        pytest.fail("there is no cluster")
    lines = str(caught.value).splitlines()
    assert lines[-1] == "line 500"
    assert len(lines) < 50


def test_a_program_that_cannot_be_started_is_told(world: World) -> None:
    (world.engine.programs.folder / "kind").chmod(0o644)
    told = r"kind create cluster(?s:.*)[Pp]ermission denied"
    with pytest.raises((CommandError, ClusterError), match=told), world.creation().created(world.config):
        pytest.fail("there is no cluster")


def test_whatever_happens_meanwhile_it_is_deleted(world: World) -> None:
    with pytest.raises(KeyboardInterrupt), world.creation().created(world.config):
        raise KeyboardInterrupt
    assert world.commands()[-1] == "delete cluster"
    assert world.engine.containers() == []


@pytest.mark.parametrize("failure", ["echo no such cluster >&2; exit 1", "true"], ids=["fails", "does nothing"])
def test_what_kind_does_not_delete_is_removed_by_its_label(world: World, failure: str) -> None:
    world.engine.put_kind({'"delete cluster"*': failure})
    with world.creation().created(world.config):
        pass
    assert world.removed() == ["rm --force --volumes id-of-h-worker id-of-h-worker2 id-of-h-control-plane"]
    assert world.engine.containers() == []


def test_a_cluster_whose_folder_is_gone_is_removed_all_the_same(world: World) -> None:
    with world.creation().created(world.config):
        (world.folder / "kind").unlink()
    assert world.removed() == ["rm --force --volumes id-of-h-worker id-of-h-worker2 id-of-h-control-plane"]


def test_a_strangers_cluster_of_the_same_name_is_refused_and_left_alone(world: World) -> None:
    world.engine.add_stranger("h")
    told = 'kind cluster "h" is there already and is not the harness\'s'
    with pytest.raises(InputError, match=told) as caught, world.creation().created(world.config):
        pytest.fail("it was taken")
    assert "--cluster-name" in str(caught.value)
    assert "--cluster existing" in str(caught.value)
    assert world.engine.programs.calls("kind") == []
    assert world.removed() == []
    assert world.engine.containers() == ["h-control-plane"]


def test_a_kept_cluster_stays_and_the_user_is_told_how_to_reach_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", told)
    with world.creation().created(world.config, keep=True):
        pass
    assert world.commands() == ["get clusters", "create cluster"]
    assert world.engine.containers()
    assert f"kind cluster h is kept; KUBECONFIG={world.kubeconfig}" in told.getvalue()


def test_a_cluster_that_was_kept_is_taken_again_and_deleted_when_it_is_not_to_be_kept(world: World) -> None:
    for _ in range(2):
        with world.creation().created(world.config, keep=True):
            pass
    with world.creation().created(world.config):
        assert world.engine.containers()
    again = ["export kubeconfig", "get clusters"]
    assert world.commands() == ["get clusters", "create cluster", *again, *again, "delete cluster"]
    assert world.engine.containers() == []


def test_a_cluster_that_was_kept_needs_no_kubeconfig_of_then(world: World) -> None:
    with world.creation().created(world.config, keep=True):
        pass
    world.kubeconfig.unlink()
    with world.creation().created(world.config):
        assert "of-the-administrator" in world.kubeconfig.read_text()
        assert world.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_a_kept_cluster_that_cannot_be_reached_is_told_and_left_alone(world: World) -> None:
    with world.creation().created(world.config, keep=True):
        pass
    world.engine.put_kind({'"export kubeconfig"*': "echo could not read config >&2; exit 1"})
    with pytest.raises(CommandError, match="could not read config"), world.creation().created(world.config):
        pytest.fail("it was taken")
    assert world.engine.containers()


def test_the_folder_that_nodes_share_is_known_from_the_nodes_themselves(world: World) -> None:
    assert shared_folder("h") is None
    with world.creation().created(world.config):
        assert shared_folder("h") == Path("/somewhere/shared")
    world.engine.add_stranger("h")
    assert shared_folder("h") is None


def test_a_container_that_docker_lists_and_does_not_know_yet_is_asked_for_again(world: World, tmp_path: Path) -> None:
    world.engine.add_left("h")
    asked = tmp_path / "asked"
    shown = f"printf 'id\\th'; cat {tmp_path}/engine/mounts-of-h"
    unknown = f"[ -e {asked} ] && {{ {shown}; }} || {{ touch {asked}; echo No such object >&2; exit 1; }}"
    world.engine.put_docker({'"inspect --format {{.Id}}"*': unknown})
    assert shared_folder("h") == tmp_path / "engine" / "shared"


def test_a_command_that_still_makes_a_container_is_waited_for(world: World, tmp_path: Path) -> None:
    maker = [sys.executable, "-c", "import time; time.sleep(1)", f"{LABEL}=h"]
    child = spawn("docker run", maker, log=tmp_path / "maker.log")
    delete("h")
    # Asked of the kernel: the thread that sets `ended` may not have had its turn yet.
    assert is_gone(child.pid)
    child.stop()


def test_a_command_that_makes_a_container_for_ever_is_ended(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creation, "MAKERS_SECONDS", 0.1)
    maker = [sys.executable, "-c", "import time; time.sleep(600)", f"{LABEL}=h"]
    child = spawn("docker run", maker, log=tmp_path / "maker.log")
    delete("h")
    assert child.ended.wait(PATIENCE_SECONDS)
    child.stop()


def test_containers_are_in_the_order_of_their_numbers(world: World) -> None:
    names = ["h-worker10", "h-worker2", "h-control-plane", "h-worker"]
    world.engine.put_docker({'"ps --all --filter"*': f"printf '%s\\n' {' '.join(names)}"})
    assert world.creation().containers() == ["h-worker", "h-worker2", "h-worker10", "h-control-plane"]
    assert "--filter=label=io.x-k8s.kind.cluster=h" in world.engine.programs.calls("docker")[0]


def test_versions_are_those_of_the_parts_themselves(world: World) -> None:
    assert world.creation().version() == "0.33.0"
    assert world.creation().kubernetes(KindKube()) == "1.34.4"


def test_what_is_left_of_a_cluster_is_deleted_by_its_label(world: World) -> None:
    assert delete("h") is False
    assert world.removed() == []
    world.engine.add_stranger("h")
    assert delete("h") is True
    assert world.removed() == ["rm --force --volumes id-of-h-control-plane"]
    asked = [call for call in world.engine.programs.calls("docker") if call[0] == "ps"]
    assert all("--filter=label=io.x-k8s.kind.cluster=h" in call and "--all" in call for call in asked)


def test_a_container_that_docker_takes_long_to_remove_is_waited_for(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creation, "REMOVAL_POLL_SECONDS", 0.0)
    tries, listed = tmp_path / "tries", tmp_path / "engine" / "containers"
    refuse = "echo removal of container h is already in progress >&2; exit 1"
    # Docker refuses every try, and it is gone after the sixth all the same.
    world.engine.put_docker({"rm*": f"echo x >>{tries}; [ $(wc -l <{tries}) -gt 5 ] && true >{listed}; {refuse}"})
    world.engine.add_stranger("h")
    assert delete("h") is True
    assert len(world.removed()) == 6


def test_a_container_that_will_not_go_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(creation, "REMOVAL_SECONDS", 0.0)
    world.engine.put_docker({"rm*": "echo device or resource busy >&2; exit 1"})
    world.engine.add_stranger("h")
    with pytest.raises(CommandError, match="device or resource busy"):
        delete("h")
