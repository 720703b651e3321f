from pathlib import Path

import pytest

from harness.cluster.base import KindSpec
from harness.cluster.kind import tools
from harness.errors import BuildError, ClusterError, CommandError, InputError, MissingToolError
from harness.paths import cache_folder
from tests.unit.cluster.kind.given import Programs

ANSWERS = {"version*": "echo 28.1.1"}
GO_VERSION = {"version": "echo go version go1.26.1 linux/amd64"}


def test_without_docker_kind_cannot_be_used_and_the_next_move_is_said(programs: Programs) -> None:
    why = tools.unavailable()
    assert why is not None
    assert why.startswith("docker is not installed; start Docker, or run on the embedded cluster")
    with pytest.raises(MissingToolError, match="cluster kind: docker is not installed"):
        tools.engine_version()


def test_an_engine_that_does_not_answer_is_told_with_its_last_words(programs: Programs) -> None:
    programs.put("docker", {"version*": "echo warning; echo Cannot connect to the Docker daemon >&2; exit 1"})
    why = tools.unavailable()
    assert why is not None
    assert why.startswith("docker does not answer: Cannot connect to the Docker daemon; start Docker")


def test_an_engine_that_fails_without_a_word_is_told_too(programs: Programs) -> None:
    programs.put("docker", {"version*": "exit 3"})
    assert "docker does not answer: docker version" in str(tools.unavailable())
    assert "exit code 3" in str(tools.unavailable())


def test_an_engine_that_answers_says_its_version(programs: Programs) -> None:
    programs.put("docker", ANSWERS)
    assert tools.unavailable() is None
    assert tools.engine_version() == "28.1.1"
    assert set(programs.said("docker")) == {"version --format {{.Server.Version}}"}


def test_a_command_that_fails_carries_what_it_said(programs: Programs) -> None:
    programs.put("docker", {"rm*": "echo no such container >&2; exit 1"})
    with pytest.raises(CommandError, match="docker rm x: exit code 1\nno such container"):
        tools.docker("rm", "x")


def test_the_program_that_is_named_is_taken(programs: Programs, tmp_path: Path) -> None:
    programs.put("kind", {"*": "exit 1"})
    named = programs.put("other-kind", {"*": "exit 1"})
    link = tmp_path / "link"
    link.symlink_to(named)
    assert tools.kind_program(KindSpec(program=link)) == named


@pytest.mark.parametrize("what", ["missing", "file", "folder"])
def test_a_named_program_that_cannot_be_executed_is_refused(programs: Programs, tmp_path: Path, what: str) -> None:
    programs.put("kind", {"*": "exit 1"})
    path = tmp_path / "no-kind"
    if what == "file":
        path.write_text("text")
    elif what == "folder":
        path.mkdir()
    with pytest.raises(InputError, match=r"--kind-bin .*no-kind: no program that may be executed"):
        tools.kind_program(KindSpec(program=path))


def test_the_one_on_path_is_taken_and_nothing_is_built(programs: Programs) -> None:
    there = programs.put("kind", {"*": "exit 1"})
    programs.put("go", {})
    assert tools.kind_program(KindSpec()) == there
    assert programs.calls("go") == []


def test_where_there_is_none_it_is_built_from_its_module_once(programs: Programs) -> None:
    told = programs.folder / "environment"
    build = f'env >{told}; printf "#!/bin/sh\\n" >"$GOBIN/kind"; chmod +x "$GOBIN/kind"'
    programs.put("go", {**GO_VERSION, "install*": build})
    program = tools.kind_program(KindSpec())
    assert program == cache_folder() / "kind" / "v0.33.0" / "kind"
    assert program.is_file()
    assert tools.kind_program(KindSpec()) == program
    assert [call for call in programs.said("go") if call != "version"] == ["install -v sigs.k8s.io/kind@v0.33.0"]
    environment = dict(line.partition("=")[::2] for line in told.read_text().splitlines())
    # The caller's flags could ask for a vendor folder; another toolchain would be downloaded.
    assert (environment["GOFLAGS"], environment["GOTOOLCHAIN"], environment["CGO_ENABLED"]) == ("", "local", "0")
    # A draft beside it: a build that is cut short leaves nothing that would be taken for kind.
    assert Path(environment["GOBIN"]).parent == program.parent.parent
    assert Path(environment["GOBIN"]) != program.parent


def test_a_build_that_fails_says_why_and_leaves_nothing(programs: Programs) -> None:
    programs.put("go", {**GO_VERSION, "install*": 'touch "$GOBIN/kind"; echo dial tcp: no such host >&2; exit 1'})
    with pytest.raises(BuildError, match=r"building kind v0\.33\.0 with Go 1\.26\.1 failed: dial tcp: no such host"):
        tools.kind_program(KindSpec())
    with pytest.raises(BuildError, match="name it with --kind-bin"):
        tools.kind_program(KindSpec())
    assert [path.name for path in (cache_folder() / "kind").iterdir()] in ([], ["v0.33.0.lock"])


@pytest.mark.parametrize(
    ("named", "variable", "expected"),
    [
        (None, None, None),
        (None, "", None),
        (None, "own/node:1", "own/node:1"),
        ("named/node:2", "own/node:1", "named/node:2"),
        ("named/node:2", None, "named/node:2"),
    ],
)
def test_the_image_of_the_nodes(
    monkeypatch: pytest.MonkeyPatch, named: str | None, variable: str | None, expected: str | None
) -> None:
    monkeypatch.delenv("KIND_NODE_IMAGE", raising=False)
    if variable is not None:
        monkeypatch.setenv("KIND_NODE_IMAGE", variable)
    assert tools.node_image(KindSpec(image=named)) == expected


@pytest.mark.parametrize(
    "printed", ["127.0.0.1 ", "192.0.2.1 127.0.0.1", "::1 127.0.0.1", "127.0.0.1 ::1"], ids=lambda text: text.strip()
)
def test_this_machines_address_is_the_gateway_of_kinds_network_that_is_its_own(
    programs: Programs, printed: str
) -> None:
    """Of both families the older one: it stands in URLs as it is."""
    programs.put("docker", {'"network inspect kind"*': f"echo '{printed}'"})
    assert tools.own_address() == "127.0.0.1"


@pytest.mark.parametrize(("printed", "told"), [("192.0.2.1", "192.0.2.1"), ("", "none"), ("nonsense", "nonsense")])
def test_a_network_that_this_machine_is_not_in_is_told_with_the_ways_out(
    programs: Programs, printed: str, told: str
) -> None:
    programs.put("docker", {'"network inspect kind"*': f"echo '{printed}'"})
    with pytest.raises(ClusterError, match=f"has the gateway {told}, which is no address of this machine") as caught:
        tools.own_address()
    assert "image:NAME" in str(caught.value)


def test_a_containers_address_is_that_in_kinds_network(programs: Programs) -> None:
    programs.put("docker", {"*": "echo 172.18.0.2"})
    assert tools.address_of("h-control-plane") == "172.18.0.2"
    (call,) = programs.said("docker")
    assert call == "inspect --format {{.NetworkSettings.Networks.kind.IPAddress}} h-control-plane"


def test_whether_a_container_can_connect_is_tried_in_it(programs: Programs) -> None:
    programs.put("docker", {"*/4242": "true", "*/1": "echo bash: connect: Connection refused >&2; exit 1"})
    assert tools.cannot_connect("h-worker", "172.18.0.1", 4242) is None
    assert tools.cannot_connect("h-worker", "172.18.0.1", 1) == "bash: connect: Connection refused"
    assert programs.calls("docker")[0][:2] == ["exec", "h-worker"]
    assert programs.calls("docker")[0][-1] == "exec 3<>/dev/tcp/172.18.0.1/4242"


def test_a_connection_that_nobody_answers_is_told_too(programs: Programs) -> None:
    programs.put("docker", {"*": "exit 124"})
    assert tools.cannot_connect("h-worker", "172.18.0.1", 1) == "no answer within 30 s (exit code 124)"
    assert " timeout 30 bash " in programs.said("docker")[0]
