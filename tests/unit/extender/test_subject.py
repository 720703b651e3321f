from pathlib import Path

import pytest

from harness.errors import InputError
from harness.extender.subject.parse import FORMS, Subject, parse


def refused(text: str, **overrides: object) -> str:
    with pytest.raises(InputError) as caught:
        parse(text, overrides)
    return str(caught.value)


def test_an_address_is_the_prefix_of_every_call() -> None:
    subject = parse("http://example.com:8888/scheduler", {})
    assert (subject.kind, subject.target, subject.entry) == ("http", "http://example.com:8888/scheduler", None)
    assert not subject.is_started
    assert parse("https://[::1]:8443", {}).kind == "https"


@pytest.mark.parametrize(
    "text", ["http://", "http://host:none", "http://host/x?y=1", "https:host", "http://host:99999"]
)
def test_an_address_that_leads_nowhere_is_refused(text: str) -> None:
    assert "http" in refused(text)
    assert "expected" in refused(text)


def test_a_command_is_split_as_a_shell_would_but_no_shell_is_involved() -> None:
    subject = parse("cmd:./extender --name 'two words' --port {port}", {})
    assert subject.arguments == ("./extender", "--name", "two words", "--port", "{port}")
    assert subject.is_started
    assert subject.name == "extender"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cmd:", "nothing after the colon"),
        ("cmd:./extender 'open", "no closing quotation"),
        ("cmd:./extender --port $PORT", "write {port}"),
        ("cmd:./extender --port=${PORT}", "write {port}"),
        ("cmd:./extender && true", "sh -c"),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused(text: str, said: str) -> None:
    assert said in refused(text)


def test_a_shell_may_be_asked_for_by_name() -> None:
    assert parse("cmd:sh -c 'exec ./extender $PORT'", {}).arguments[-1] == "exec ./extender $PORT"


def test_a_go_folder_may_have_arguments() -> None:
    subject = parse("go:./my folder -- -port {port} -name 'a b'", {})
    assert (subject.target, subject.arguments) == ("./my folder", ("-port", "{port}", "-name", "a b"))
    assert parse("go:.", {}).arguments == ()
    assert "go:FOLDER" in refused("go: -- -port {port}")


def test_an_image_is_understood_although_it_cannot_be_started() -> None:
    assert parse("image:example.com/team/extender:v1@sha256:00", {}).name == "extender:v1@sha256:00"
    assert "an image" in refused("image:two words")


@pytest.mark.parametrize("text", ["py:module", "py:module:", "py::name", "py:a-b:c", "py:a/b.py:c"])
def test_python_is_named_by_module_and_callable(text: str) -> None:
    assert parse("py:my.module:Extender", {}).target == "my.module:Extender"
    assert "py:MODULE:CALLABLE" in refused(text)


def test_a_reference_brings_its_entry_and_takes_options() -> None:
    subject = parse("ref:want-you?node=node-2&x=a%26b", {})
    assert (subject.target, subject.options) == ("want-you", {"node": "node-2", "x": "a&b"})
    assert subject.entry is not None
    assert subject.entry["filterVerb"] == "filter"
    assert "key=value" in refused("ref:lucky?node")


def test_overrides_win_over_what_the_subject_says() -> None:
    subject = parse("ref:lucky", {"weight": 7, "ignorable": True})
    assert subject.entry is not None
    assert (subject.entry["weight"], subject.entry["ignorable"], subject.entry["filterVerb"]) == (7, True, "filter")
    assert parse("cmd:x", {"weight": 7}).entry == {"weight": 7}
    assert parse("cmd:x", {}).entry is None
    assert refused("cmd:x", Weight=7).startswith("--entry: unknown key 'Weight'")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("lucky", "did you mean ref:lucky?"),
        ("ref:lukcy", 'did you mean "lucky"?'),
        ("htpp://host", 'did you mean "http"?'),
        ("cmdd:x", 'did you mean "cmd"?'),
        ("", "nothing seen"),
        ("ftp://host", FORMS["ref"]),
    ],
)
def test_what_was_probably_meant_is_said(text: str, meant: str) -> None:
    assert meant in refused(text)


def written(folder: Path, text: str, name: str = "subject.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_file_says_all_that_a_line_cannot(tmp_path: Path) -> None:
    text = (
        "subject: cmd:./extender {port}\n"
        "entry: {filterVerb: filter, urlPrefix: 'http://x:1/scheduler', nodeCacheCapable: true}\n"
        "env: {LEVEL: debug}\n"
        "health: /healthz\n"
        "startSeconds: 2.5\n"
    )
    path = written(tmp_path, text, "mine.yaml")
    subject = parse(path, {"filterVerb": "predicates"})
    assert subject == Subject(
        text=path,
        kind="cmd",
        target="./extender {port}",
        entry={"filterVerb": "predicates", "urlPrefix": "http://x:1/scheduler", "nodeCacheCapable": True},
        arguments=("./extender", "{port}"),
        env={"LEVEL": "debug"},
        health="/healthz",
        start_seconds=2.5,
        folder=tmp_path,
    )


def test_a_folder_stands_for_the_file_in_it(tmp_path: Path) -> None:
    assert "subject.yaml" in refused(str(tmp_path))
    (tmp_path / "go.mod").touch()
    assert f"go:{tmp_path}" in refused(str(tmp_path))
    written(tmp_path, "subject: ref:lucky\nentry: {weight: 3}")
    subject = parse(str(tmp_path), {})
    assert subject.entry is not None
    assert (subject.kind, subject.entry["weight"], subject.entry["filterVerb"]) == ("ref", 3, "filter")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("subject: cmd:x\nhelath: /h", 2, 'did you mean "health"?'),
        ("entry: {}", 1, "subject is missing"),
        ("subject: cmd:x\nentry:\n  weight: 1\n  filterverb: f", 4, 'did you mean "filterVerb"?'),
        ("subject: cmd:x\nentry:\n  httpTimeout: 5", 3, "a string expected"),
        ("subject: cmd:x\nenv:\n  A: b\n  LEVEL: 3", 4, "put it in quotes"),
        ("subject: cmd:x\nstartSeconds: 0", 2, "more than 0"),
        ("subject: cmd:x\nstartSeconds: true", 2, "more than 0"),
        ("subject: cmd:x\nhealth: healthz", 2, "a path such as /healthz"),
        ("subject: 7", 1, "a subject such as"),
        ("\nsubject: cdm:x", 2, 'did you mean "cmd"?'),
        ("\nsubject: ref:lukcy", 2, 'did you mean "lucky"?'),
        ("subject: other.yaml", 1, "is no subject"),
        ("subject: cmd:x\nsubject: cmd:y", 2, "duplicate key"),
        ("- subject", 1, "one mapping"),
        ("subject: {", 2, "broken YAML"),
        ("", 1, "one mapping"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = written(tmp_path, text)
    message = refused(path)
    assert message.startswith(f"{path}:{line}:")
    assert said in message


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    message = refused(written(tmp_path, "env: 1\nhealth: x\nentry: {weight: x}\n"))
    assert len(message.splitlines()) == 4


def test_a_file_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refused(str(tmp_path / "none.yaml"))
