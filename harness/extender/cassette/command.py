"""Takes secrets out of what a user types, a subject or a command line, before it is kept or shown.

Whoever starts a subject gets what was typed. The mark is a fixed word, other than in bodies: subjects of several runs
are compared by their texts, and nothing can be learned from a word that is always the same.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.errors import InputError
from harness.extender.cassette.redact import LOGIN, LOOKS, OPTION, REFERENCE
from harness.extender.entry import Entry

LEFT_OUT = "redacted-secret"

_NAME = rf"[\w.-]*(?:{LOOKS})[\w.-]*"
_FLAG = re.compile(rf"--?{_NAME}", re.IGNORECASE)
# A word that is all of it a name and its value, as an option, a variable or a header.
_NAMED = re.compile(rf"(?P<name>-{{0,2}}{_NAME})(?P<sign>=|:\s*)(?P<value>\S.*)", re.IGNORECASE | re.DOTALL)
# A name and its value somewhere in a word: ?token=x&mode=y, --env=TOKEN=x. The first look keeps it from trying the
# middle of a long word again and again.
_INNER = re.compile(rf"(?<![\w.-])(?P<name>{_NAME})(?P<sign>=)(?P<value>[^&;,]+)", re.IGNORECASE)
_HEADER = re.compile(rf"(?P<name>=\s*{_NAME})(?P<sign>:\s*)(?P<value>\S.*)", re.IGNORECASE | re.DOTALL)
# --authorization-kubeconfig=/etc/kubernetes/scheduler.conf: what programs take there is always a file.
_FILE = re.compile(r"kubeconfig$", re.IGNORECASE)
# A name before a port is a host, not a secret.
_PORT = re.compile(r"\d+(?:/.*)?", re.DOTALL)
_SUBJECT = re.compile(r"(?P<option>--?[\w-]+=)?(?P<subject>(?:cmd|go|https?|image|py|ref|source):.*)", re.DOTALL)
# The key of a client's certificate, in an entry that was typed: --entry 'tlsConfig={keyData: …}'.
_KEY_DATA = re.compile(r"""(keyData["']?\s*[:=]\s*["']?)[^\s"',}]+""")
_WORD = re.compile(r"""(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*'|["'])+""", re.DOTALL)


def without_secrets(subject: str) -> str:
    """Return a subject, as a user wrote it, without what looks like secrets in it."""
    kind, colon, rest = subject.partition(":")
    if kind.strip().lower() in {"cmd", "go"}:
        return kind + colon + _line(rest)
    return without_logins(_INNER.sub(_replaced, subject))


def without_secrets_in(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, of the harness itself or of any program, likewise."""
    return list(_words(words))


def without_logins(text: str) -> str:
    """Return any text without the passwords of the addresses in it."""
    return LOGIN.sub(rf"\g<1>{LEFT_OUT}\g<3>", text)


def entry_without_secrets(entry: Entry) -> dict[str, Any]:
    """Return an extender's entry as it may be kept: without the key of a certificate, or a password."""
    tls = {key: value for key, value in entry.tls.items() if key != "keyData"}
    return replace(entry, tls=tls, url_prefix=without_logins(entry.url_prefix)).to_json()


def require_whole(text: str) -> None:
    """Refuse what was copied from a record, where a mark stands for the secret.

    Raises:
        InputError: it has such a mark.
    """
    if LEFT_OUT in text:
        raise InputError(f"{text}: {LEFT_OUT} stands for a secret that no record keeps; write the secret itself there")


def _words(words: Sequence[str]) -> Iterator[str]:
    follows = False
    for word in words:
        yield LEFT_OUT if follows and not OPTION.fullmatch(word) else _word(word)
        follows = bool(_FLAG.fullmatch(word)) and not _is_reference(word)


def _word(word: str) -> str:
    word = _KEY_DATA.sub(rf"\g<1>{LEFT_OUT}", word)
    if found := _SUBJECT.fullmatch(word):
        return (found["option"] or "") + without_secrets(found["subject"])
    if found := _NAMED.fullmatch(word):
        return _replaced(found)
    if found := _HEADER.search(word):
        return word[: found.start()] + _replaced(found)
    if any(character.isspace() for character in word):
        # What a shell will read.
        return _line(word)
    return without_logins(_INNER.sub(_replaced, word))


def _line(text: str) -> str:
    """Change the words of a command that are secrets, and leave the others as they are spelled."""
    found = list(_WORD.finditer(text))
    plain = [_unquoted(one[0]) for one in found]
    parts, end = [], 0
    for one, before, after in zip(found, plain, _words(plain), strict=True):
        parts += [text[end : one.start()], one[0] if after == before else shlex.quote(after)]
        end = one.end()
    return "".join([*parts, text[end:]])


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word))
    except ValueError:
        # A quote that is not closed; whoever starts the command will say so.
        return word


def _is_reference(name: str) -> bool:
    return bool(REFERENCE.search(name) or _FILE.search(name))


def _replaced(match: re.Match[str]) -> str:
    if _is_reference(match["name"]) or (match["sign"] != "=" and _PORT.fullmatch(match["value"])):
        return match[0]
    return f"{match['name']}{match['sign']}{LEFT_OUT}"
