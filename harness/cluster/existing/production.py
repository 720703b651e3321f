"""Tells whether a cluster looks like one that people depend on, so that nobody tests on it by mistake."""

import os
import re
from collections.abc import Iterator, Sequence

from harness.cluster.existing.context import Context
from harness.errors import InputError
from harness.kube import Object

VARIABLE = "HARNESS_PRODUCTION"
WORDS = ("prod", "production", "prd", "live")
# More nodes of a cloud than people pay for to try something.
CLOUD_NODES_MAX = 20
LOCAL_PROVIDERS = frozenset({"kind", "k3d", "k3s", "minikube", "docker", "kwok"})


def refuse(context: Context, nodes: Sequence[Object], *, confirmed: bool) -> None:
    """Refuse a cluster that looks like production, unless the user has said that it is meant.

    Raises:
        InputError: it looks so; says what does, and how to go on.
    """
    found = [] if confirmed else list(_looks(context, nodes))
    if found:
        raise InputError(
            f'context "{context.name}" looks like production: {"; ".join(found)}. If it is meant, say --yes; '
            f"{VARIABLE} holds the words that count, separated by commas ({', '.join(WORDS)} unless set; may be empty)"
        )


def _looks(context: Context, nodes: Sequence[Object]) -> Iterator[str]:
    words = patterns()
    if not words:
        return
    # A digit may follow, as in prod2, and no letter: "productive" is another word.
    for word in words:
        pattern = _compiled(word)
        for what, text in (
            ("its name", context.name),
            ("its cluster's name", context.cluster),
            ("the server's name", context.host),
        ):
            if pattern.search(text):
                yield f'{what} has "{word}" in it'
                return
    in_cloud = sum(1 for node in nodes if _is_in_cloud(node))
    if in_cloud > CLOUD_NODES_MAX:
        yield f"{in_cloud} of its nodes are machines of a cloud, more than {CLOUD_NODES_MAX}"


def patterns() -> list[str]:
    """Return the words that make a name look like production."""
    named = os.environ.get(VARIABLE)
    return list(WORDS) if named is None else [word.strip() for word in named.split(",") if word.strip()]


def _compiled(word: str) -> re.Pattern[str]:
    try:
        return re.compile(rf"(?<![a-z])(?:{word})(?![a-z])", re.IGNORECASE)
    except re.error as error:
        raise InputError(f"{VARIABLE}: {word!r} is no pattern: {error}") from error


def _is_in_cloud(node: Object) -> bool:
    scheme, found, _ = str((node.get("spec") or {}).get("providerID", "")).partition("://")
    return bool(found) and scheme not in LOCAL_PROVIDERS
