import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.base import ClusterSpec, ExistingSpec
from harness.cluster.existing.context import context_of
from harness.errors import InputError


def config(current: str | None, *names: str, **user: Any) -> str:
    document = {
        "current-context": current,
        "contexts": [
            {"name": name, "context": {"cluster": f"c-{name}", "user": f"u-{name}", "namespace": "theirs"}}
            for name in names
        ],
        "clusters": [{"name": f"c-{name}", "cluster": {"server": f"https://{name}.test:6443"}} for name in names],
        "users": [{"name": f"u-{name}", "user": user or {"token": f"secret-{name}"}} for name in names],
    }
    return yaml.safe_dump(document)


def spec(path: Path | None = None, context: str | None = None) -> ClusterSpec:
    return ClusterSpec(kubeconfig=path, existing=ExistingSpec(context=context))


def test_the_current_context_is_taken_alone(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(config("b", "a", "b"))
    context = context_of(spec(file))
    assert (context.name, context.cluster, context.host, context.port) == ("b", "c-b", "b.test", 6443)
    written = context.write(tmp_path / "alone")
    assert written.stat().st_mode & 0o777 == 0o600
    alone = json.loads(written.read_text())
    assert alone["current-context"] == "b"
    assert [user["name"] for user in alone["users"]] == ["u-b"]
    # kubectl's own namespace is nobody's but the user's.
    assert "namespace" not in alone["contexts"][0]["context"]
    assert "secret-a" not in written.read_text()


def test_another_one_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(config("b", "a", "b"))
    assert context_of(spec(file, "a")).host == "a.test"


def test_files_of_the_environment_are_read_together_and_the_first_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").write_text(config(None, "a", token="first"))
    (tmp_path / "two").write_text(config("b", "a", "b", token="second"))
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'one'}:{tmp_path / 'none'}:{tmp_path / 'two'}")
    assert context_of(spec()).name == "b"
    assert context_of(spec(context="a")).document["users"][0]["user"]["token"] == "first"


def test_files_and_programs_beside_it_are_found_from_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(config("a", "a", **{"client-key": "pki/a.key", "exec": {"command": "./login"}}))
    user = context_of(spec(file)).document["users"][0]["user"]
    assert user["client-key"] == str(tmp_path / "pki/a.key")
    assert user["exec"]["command"] == str(tmp_path / "login")
    file.write_text(config("a", "a", exec={"command": "login"}))
    assert context_of(spec(file)).document["users"][0]["user"]["exec"]["command"] == "login"


def test_what_is_missing_is_said_with_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"\.kube/config: no such kubeconfig; name one with --kubeconfig"):
        context_of(spec())
    file = tmp_path / "config"
    file.write_text(config(None, "alpha", "beta"))
    with pytest.raises(InputError, match="no current context; choose one with --context: alpha, beta"):
        context_of(spec(file))
    with pytest.raises(InputError, match=r'no context "alpa"; did you mean "alpha"\? there are: alpha, beta'):
        context_of(spec(file, "alpa"))
    file.write_text(yaml.safe_dump({"contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}]}))
    with pytest.raises(InputError, match='context "a" is about cluster "c", which is not there; known: none'):
        context_of(spec(file, "a"))


def test_a_broken_file_is_named_and_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("users: [{token: 'very-secret}]")
    with pytest.raises(InputError, match="no YAML") as caught:
        context_of(spec(file))
    assert "very-secret" not in str(caught.value)
    file.write_text("just words")
    with pytest.raises(InputError, match="str seen, a kubeconfig expected"):
        context_of(spec(file))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"contexts": 7}, "contexts: int seen, a list expected"),
        ({"clusters": "secret-a"}, "clusters: str seen, a list expected"),
        ({"users": {"u-a": {"token": "secret-a"}}}, "users: dict seen, a list expected"),
        ({"contexts": [{"name": "a", "context": "foo"}]}, 'context "a": str seen, a mapping expected'),
        ({"users": [{"name": "u-a", "user": "secret-a"}]}, 'user "u-a": str seen, a mapping expected'),
        ({"users": [{"name": "u-a", "user": {"client-key": 7}}]}, 'user "u-a": client-key: int seen, a text expected'),
        ({"users": [{"name": "u-a", "user": {"exec": "x"}}]}, 'user "u-a": exec: str seen, a mapping expected'),
        ({"users": [{"name": "u-a", "user": {"exec": {"command": ["/x"]}}}]}, "exec: command: list seen, a text"),
        ({"current-context": ["a"]}, "no context \"['a']\""),
    ],
)
def test_a_part_of_another_type_is_named_and_not_quoted(changed: dict[str, Any], told: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump({**yaml.safe_load(config("a", "a")), **changed}))
    with pytest.raises(InputError, match=f"^{re.escape(f'{file}: ')}") as caught:
        context_of(spec(file))
    assert told in str(caught.value)
    assert "secret-a" not in str(caught.value)


@pytest.mark.parametrize(
    "server",
    [None, "", 7, "https://127.0.0.1:notaport", "https://127.0.0.1:99999", "https://[::1", "a.test:6443", "https://"],
)
def test_a_server_that_is_no_address_is_bad_input(server: object, tmp_path: Path) -> None:
    file = tmp_path / "config"
    clusters = [{"name": "c-a", "cluster": {"server": server} if server is not None else {}}]
    file.write_text(yaml.safe_dump({**yaml.safe_load(config("a", "a")), "clusters": clusters}))
    seen = f'server "{server}"' if server else "no server"
    with pytest.raises(InputError) as caught:
        context_of(spec(file))
    expected = f'{file}: cluster "c-a": {seen} seen, an address such as https://HOST:PORT expected'
    assert str(caught.value) == expected


def test_a_context_that_is_printed_shows_no_keys(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(config("a", "a"))
    assert "secret-a" not in repr(context_of(spec(file)))
