"""Puts into words why a container's image did not come: which image, from where, what went wrong, and the ways out.

It reads what a kubelet says: a container's waiting reason and message, or the message of an Event. Pure, so that a
cluster provider can use it while it waits, and a judge years later.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

IMAGE_WAITS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
"""The reasons of a waiting container that are about its image."""

UNKNOWN = "cannot be pulled"
_INVALID = "is no valid name of an image"
_NEVER = "is not on the node, and imagePullPolicy is Never"
_DOCKER_HUB, _DOCKER_HUB_HOST = "docker.io", "registry-1.docker.io"

# The first that fits is meant: the message of a failed request has the causes of causes behind it.
_PROBLEMS: tuple[tuple[str, str], ...] = (
    (r"InvalidImageName|couldn't parse image|invalid reference format", _INVALID),
    (r"ErrImageNeverPull|pull policy of Never", _NEVER),
    (r"no such host|name resolution|server misbehaving|lookup .*i/o timeout", "the registry's name is unknown here"),
    (r"\b429\b|toomanyrequests|rate limit", "the registry takes no more requests for now (429)"),
    (r"server gave HTTP response to HTTPS client", "the registry speaks http and not https"),
    (r"x509|certificate", "the registry's certificate is not trusted"),
    (r"i/o timeout|deadline exceeded|timed? ?out", "the registry does not answer (timeout)"),
    (r"connection refused|unreachable|no route to host|connection reset|\bEOF\b", "the registry cannot be reached"),
    (r"no space left", "the node's disk is full"),
    (r"no match for platform|no matching manifest", "exists, but not for this machine's architecture"),
    (
        r"unauthorized|denied|\b40[13]\b|forbidden|authorization failed|insufficient_scope|no basic auth",
        "the registry does not hand it out without credentials, or has none of that name (unauthorized)",
    ),
    (r"not found|manifest unknown|\b404\b", "the registry has no such image or tag (not found)"),
    (r"\b5\d\d\b|RegistryUnavailable", "the registry is out of order"),
)
_QUOTED = re.compile(r'\\?"[^"]*"')
_ASKED = re.compile(r'https?://(?P<host>[^/"\s]+)/v2/')
_NAMED = (
    re.compile(r"^\w+: image (?P<image>\S+): "),
    re.compile(r'(?:[Pp]ull(?:ing)?(?: and unpack)?|[Cc]ontainer) image \\?"(?P<image>[^"\\]+)'),
    re.compile(r'(?:image tag|image name|resolve reference) \\?"(?P<image>[^"\\]+)'),
)
_TOLD = re.compile(r"Failed to (?:pull|apply|inspect)|Container image .* is not present")


@dataclass(frozen=True)
class PullTrouble:
    """An image that did not come; `problem` goes on where `image X from HOST` ends, `asked` is who answered or not."""

    image: str
    problem: str
    asked: str | None = None

    @property
    def registry(self) -> str:
        """Return the host that the image's name stands for."""
        first, slash, _ = self.image.partition("/")
        return first if slash and ("." in first or ":" in first or first == "localhost") else _DOCKER_HUB

    def what(self) -> str:
        """Say which image, from where, and what went wrong."""
        if self.problem == _INVALID:
            return f'image "{self.image}": {self.problem}'
        through = f" (asked: {self.asked})" if self.asked not in {None, self.registry, _DOCKER_HUB_HOST} else ""
        return f"image {self.image} from {self.registry}{through}: {self.problem}"

    def ways_out(self, provider: str = "kind", cluster: str | None = None) -> tuple[str, ...]:
        """Return what could be done about it; `cluster` is the name of a kind cluster, if it is known."""
        if self.problem == _INVALID:
            return ("write its name as [HOST/]NAME[:TAG], in small letters and without blanks",)
        on_kind = provider == "kind"
        load = f"kind load docker-image {self.image} --name {cluster or 'CLUSTER'}"
        always = "" if _is_fixed(self.image) else ", with imagePullPolicy: IfNotPresent (latest is asked for anew)"
        return (
            f"preload it: {load if on_kind else 'ctr -n k8s.io images import FILE on each node'}{always}",
            self._from_elsewhere(on_kind),
            "a node image that carries it: --kind-image IMAGE" if on_kind else "an image that the nodes have already",
        )

    def _from_elsewhere(self, on_kind: bool) -> str:
        if self.problem == _NEVER:
            return "imagePullPolicy: IfNotPresent, for an image that a registry has"
        patches = ", or containerdConfigPatches in the file of --kind-config" if on_kind else ""
        return f"a mirror of {self.registry}: containerd's hosts.toml on the nodes{patches}"

    def sentence(self, provider: str = "kind", cluster: str | None = None) -> str:
        """Say all of it in one line."""
        ways = self.ways_out(provider, cluster)
        return f"{self.what()}. Way{'s' if len(ways) > 1 else ''} out: {'; '.join(ways)}"


def trouble(text: str, image: str | None = None) -> PullTrouble | None:
    """Return what a kubelet's words say about an image, None when they are about something else.

    Args:
        text: `REASON: MESSAGE` of a waiting container, as a record keeps it, or the message of an Event.
        image: the image, if it is known better than from the text.
    """
    image = image or next((found["image"] for form in _NAMED if (found := form.search(text))), None)
    if image is None or not (text.partition(":")[0] in IMAGE_WAITS or _TOLD.match(text)):
        return None
    asked = _ASKED.search(text)
    return PullTrouble(image, _problem(text, image), asked["host"] if asked else None)


def in_status(status: Mapping[str, Any]) -> PullTrouble | None:
    """Return what a pod's status says about an image that does not come, None when none is missing."""
    for container in containers(status):
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in IMAGE_WAITS:
            return trouble(f"{waiting['reason']}: {waiting.get('message', '')}", container.get("image") or None)
    return None


def containers(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the status of every container of a pod, in the order of their start."""
    yield from (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ()))


def more_telling(one: PullTrouble | None, other: PullTrouble | None) -> PullTrouble | None:
    """Return the one of two findings about a pod that has a cause; the later of two that have, or that have none.

    A kubelet tells the cause when it tried, and between two tries only that it waits.
    """
    if one is None or other is None:
        return other or one
    if other.problem == UNKNOWN and one.image == other.image:
        return one
    return replace(other, asked=other.asked or one.asked) if one.image == other.image else other


def _problem(text: str, image: str) -> str:
    # Names may contain words and numbers that mean something elsewhere: team/not-found:404.
    own = rf"(?<!\S)(?:\S*/)?{re.escape(image.rpartition('/')[2])}(?:[:@,]\S*)?(?!\S)"
    bare = re.sub(own, "", _QUOTED.sub("", text))
    return next((problem for sign, problem in _PROBLEMS if re.search(sign, bare)), UNKNOWN)


def _is_fixed(image: str) -> bool:
    """Tell whether a kubelet takes a loaded image as it is: one with a tag other than latest, or a digest."""
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return "@" in image or (bool(colon) and tag != "latest")
