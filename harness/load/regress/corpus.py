"""What both sides are asked: bodies of one kind of call, made for so many nodes or taken from a cassette."""

import hashlib
import statistics
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.extender.entry import VERBS
from harness.load.bodies import WIRES, Corpus, made_up
from harness.load.bodies import recorded as recorded_corpus

NODES_MAX = 5000


@dataclass(frozen=True)
class Cell:
    """One thing to be compared: a kind of call with bodies of one sort; `nodes` is how many a body names."""

    verb: str
    nodes: int
    wire: str
    bodies: tuple[bytes, ...]
    source: str = "generated"

    @property
    def body_bytes(self) -> int:
        """Return how large a body is, in the middle."""
        return int(statistics.median(map(len, self.bodies)))

    @property
    def digest(self) -> str:
        """Return what tells these bodies from all others."""
        digest = hashlib.sha256()
        for body in self.bodies:
            digest.update(len(body).to_bytes(8, "big") + body)
        return digest.hexdigest()[:16]

    @property
    def title(self) -> str:
        """Return its name for people."""
        return f"{self.verb}, {self.nodes} {self.wire}"


def generated(verb: str, nodes: int, wire: str) -> Cell:
    """Return bodies for so many made-up nodes, each for a pod of its own.

    Raises:
        InputError: there is no such kind of call or form, or too many nodes.
    """
    if verb not in VERBS or wire not in WIRES:
        raise InputError(f"{verb}, {wire}: one of {', '.join(VERBS)} and one of {', '.join(WIRES)} expected")
    if not 1 <= nodes <= NODES_MAX:
        raise InputError(f"nodes: {nodes} seen, 1 to {NODES_MAX} expected")
    return _cell(verb, made_up(nodes, wire, (verb,)))


def recorded(cassette: Path, verb: str) -> Cell:
    """Return the bodies of a cassette, in the order in which they were sent.

    Raises:
        InputError: the cassette cannot be read, or has no such call.
    """
    return _cell(verb, recorded_corpus(cassette, (verb,)))


def _cell(verb: str, corpus: Corpus) -> Cell:
    return Cell(verb, corpus.nodes, corpus.wire, tuple(body.data for body in corpus.bodies), corpus.source)
