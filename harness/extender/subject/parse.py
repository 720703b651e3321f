"""What a user brings to be tested, read from one line of text or from a file. Starts nothing; see start.py."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from harness.errors import InputError
from harness.extender.cassette.command import require_whole, without_secrets
from harness.extender.entry import Entry
from harness.extender.references import REFERENCES
from harness.scenario import positions
from harness.scenario.problems import Problem
from harness.scenario.words import did_you_mean, listed, nearest, shown

FORMS = {
    "http": "http://HOST:PORT/PATH",
    "https": "https://HOST:PORT/PATH",
    "cmd": "cmd:COMMAND {port}",
    "go": "go:FOLDER[@REVISION]",
    "image": "image:REFERENCE",
    "py": "py:MODULE:CALLABLE",
    "ref": "ref:NAME",
}
FILE_NAME = "subject.yaml"
PORT_MARK = "{port}"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+-]*):(.*)", re.DOTALL)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish"}
# An image's name has no spaces, and the registry's part, the tag and the digest are told apart by whoever pulls it.
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]*")
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Subject:
    """An extender that somebody brought, not started yet.

    `text` is what was written, without its secrets. `kind` is the word before the colon, `target` what follows it,
    `arguments` the command line of a `cmd` or what a `go` program gets. `options` are those of a reference. `entry` has
    the keys of an `extenders[]` entry that are known about it, None if nothing is. `folder` is where relative paths
    start. `start_seconds` is None unless it was said. What may hold secrets is not shown by whoever prints it.
    """

    text: str
    kind: str
    target: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    entry: Mapping[str, Any] | None = None
    arguments: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    health: str | None = None
    start_seconds: float | None = None
    folder: Path = Path()

    @property
    def is_started(self) -> bool:
        """Tell whether the harness starts it; an address belongs to something that runs already."""
        return self.kind not in ("http", "https")

    @property
    def name(self) -> str:
        """Return a short name for people."""
        match self.kind:
            case "http" | "https":
                # Names of files are made of it, so the login before the host is no part of it.
                return urlsplit(self.target).netloc.rpartition("@")[2]
            case "cmd":
                return Path(self.arguments[0]).name
            case "go":
                return (self.folder / self.target).resolve().name
            case "image":
                return self.target.rpartition("/")[2]
            case _:
                return self.target


def parse(text: str, entry_overrides: Mapping[str, Any] | None = None) -> Subject:
    """Return the subject that a text stands for; `entry_overrides` win over what the subject says about itself.

    Raises:
        InputError: it stands for none; says what is close, or every problem of the file with its line.
    """
    text = text.strip()
    require_whole(text)
    match = _SCHEME.fullmatch(text)
    if match and match[1].lower() in FORMS:
        subject = _from_text(text, match[1].lower(), match[2])
    elif text and _is_path(text):
        subject = _from_file(_file_of(text), text)
    else:
        raise InputError(_unknown(text, match[1] if match else None))
    # From here on only what starts it knows its secrets.
    subject = replace(subject, text=without_secrets(subject.text))
    overrides = dict(entry_overrides or {})
    _check_overrides(overrides)
    return replace(subject, entry={**(subject.entry or {}), **overrides}) if overrides else subject


def _check_overrides(overrides: Mapping[str, Any]) -> None:
    try:
        Entry.from_json(overrides, "--entry")
    except InputError as error:
        told = str(error)
        raise InputError(told if told.startswith("--entry") else f"--entry: {told}") from None


def _from_text(text: str, kind: str, rest: str) -> Subject:
    match kind:
        case "http" | "https":
            return _address(text, kind)
        case "cmd":
            arguments = _command(text, rest)
            return Subject(text, kind, rest.strip(), arguments=arguments)
        case "go":
            folder, _, given = f"{rest} ".partition(" -- ")
            return Subject(text, kind, _given(text, folder.strip(), kind), arguments=_words(text, given))
        case "image":
            if not _IMAGE.fullmatch(rest.strip()):
                raise InputError(
                    f"{text}: {shown(rest.strip())} seen, an image such as example.com/extender:v1 expected"
                )
            return Subject(text, kind, rest.strip())
        case "py":
            module, _, name = rest.strip().partition(":")
            if not _DOTTED.fullmatch(module) or not _DOTTED.fullmatch(name):
                raise InputError(f"{text}: {FORMS[kind]} expected, such as py:my_extender:MyExtender")
            return Subject(text, kind, rest.strip())
        case _:
            return _reference(text, rest.strip())


def _address(text: str, kind: str) -> Subject:
    try:
        parts = urlsplit(text)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise InputError(f"{text}: {error}; {FORMS[kind]} expected") from None
    if not is_whole or parts.query or parts.fragment:
        raise InputError(f"{text}: {FORMS[kind]} expected, without ? and #: kube-scheduler appends /VERB to it")
    return Subject(text, kind, text, entry=None)


def _command(text: str, rest: str) -> tuple[str, ...]:
    words = _words(text, _given(text, rest.strip(), "cmd"))
    is_shell = Path(words[0]).name in _SHELLS
    if not is_shell and (taken := next((word for word in words if "$PORT" in word or "${PORT}" in word), None)):
        raise InputError(
            f"{text}: no shell reads the command, so {shown(taken)} would stay as it is; "
            f"write {PORT_MARK}, or sh -c '…' for a shell"
        )
    if not is_shell and (sign := next((word for word in words if word in ("|", "&&", "||", ";", "&", ">", "<")), None)):
        raise InputError(f"{text}: no shell reads the command, so {shown(sign)} means nothing; write cmd:sh -c '…'")
    return words


def _words(text: str, command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise InputError(f"{text}: cannot be split into words: {str(error).lower()}") from None


def _given(text: str, rest: str, kind: str) -> str:
    if not rest:
        raise InputError(f"{text}: nothing after the colon, {FORMS[kind]} expected")
    return rest


def _reference(text: str, rest: str) -> Subject:
    name, _, query = rest.partition("?")
    if name not in REFERENCES:
        raise InputError(
            f"{text}: no reference {shown(name)}{did_you_mean(name, REFERENCES)} known: {listed(REFERENCES)}"
        )
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        raise InputError(f"{text}: {shown(query)} seen, options such as ?key=value&key=value expected") from None
    return Subject(text, "ref", name, options=options, entry=dict(REFERENCES[name].entry))


def _is_path(text: str) -> bool:
    return text.endswith(_SUFFIXES) or Path(text).exists()


def _file_of(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        return path
    if (path / FILE_NAME).is_file():
        return path / FILE_NAME
    is_go = (path / "go.mod").is_file()
    hint = f"write go:{text} to build it" if is_go else f"forms: {listed(FORMS.values())}"
    raise InputError(f"{text}: a folder without {FILE_NAME}; {hint}")


def _unknown(text: str, scheme: str | None) -> str:
    if not text:
        return f"a subject expected, nothing seen; forms: {listed([*FORMS.values(), FILE_NAME])}"
    if scheme is None and (near := nearest(text, REFERENCES)):
        return f"{shown(text)} is no subject; did you mean ref:{near}?"
    close = did_you_mean(scheme, FORMS) if scheme else ";"
    return f"{shown(text)} is no subject{close} forms: {listed([*FORMS.values(), FILE_NAME])}"


# Each key, and what is expected there.
_KEYS = {
    "subject": "a subject such as cmd:COMMAND",
    "entry": "keys of an extenders[] entry",
    "env": "names and values",
    "health": "a path such as /healthz",
    "startSeconds": "seconds, more than 0,",
}


def _from_file(path: Path, text: str) -> Subject:
    """Read a subject.yaml; every problem of it is told at once."""
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    documents, problems = positions.read(source, str(path))
    if len(documents) != 1 or not isinstance(documents[0].data, dict):
        problems = problems or [Problem(str(path), 1, (), "one mapping with the key subject expected")]
    else:
        problems += _problems(path, documents[0])
    if problems:
        raise InputError("\n".join(str(problem) for problem in problems))
    data = documents[0].data
    line = documents[0].line(("subject",))
    inner = data["subject"].strip()
    match = _SCHEME.fullmatch(inner)
    if not match or match[1].lower() not in FORMS:
        problem = _unknown(inner, match[1] if match else None)
        raise InputError(f"{path}:{line}: subject: {problem}")
    try:
        subject = _from_text(inner, match[1].lower(), match[2])
    except InputError as error:
        raise InputError(f"{path}:{line}: subject: {error}") from None
    entry = {**(subject.entry or {}), **(data.get("entry") or {})}
    return replace(
        subject,
        text=text,
        entry=entry or None,
        env=data.get("env") or {},
        health=data.get("health"),
        start_seconds=float(data["startSeconds"]) if "startSeconds" in data else None,
        folder=path.parent,
    )


def _problems(path: Path, document: positions.Document) -> list[Problem]:
    """Return what is wrong with the values of a subject.yaml."""
    data = document.data
    found: list[tuple[tuple[str | int, ...], str]] = []
    if "subject" not in data:
        found.append(((), "the key subject is missing: what is to be started, or where it runs"))
    for key, value in data.items():
        if key not in _KEYS:
            found.append(((key,), f"unknown key{did_you_mean(key, _KEYS)} known: {listed(_KEYS)}"))
        elif not _is_right(key, value):
            found.append(((key,), f"{shown(value)} seen, {_KEYS[key]} expected"))
        elif key == "env":
            wrong = {name: one for name, one in value.items() if not isinstance(one, str)}
            found += [
                (("env", name), f"{shown(one)} seen, text expected; put it in quotes") for name, one in wrong.items()
            ]
    problems = [Problem(str(path), document.line(place), place, message) for place, message in found]
    entry = data.get("entry")
    for key, value in entry.items() if isinstance(entry, dict) else ():
        try:
            Entry.from_json({key: value}, "entry")
        except InputError as error:
            problems.append(Problem(str(path), document.line(("entry", key)), (), str(error)))
    return problems


def _is_right(key: str, value: Any) -> bool:
    if key == "startSeconds":
        return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    if key == "health":
        return isinstance(value, str) and value.startswith("/")
    return isinstance(value, dict if key in ("entry", "env") else str)
