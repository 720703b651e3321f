"""Checks what no single field can tell: that node names are distinct, and that the named nodes exist at some time.

A misspelt node in `neverOn` would otherwise hold for ever without anyone noticing.
"""

import fnmatch
from collections.abc import Iterable, Iterator

from harness.scenario.expectations import NodeSet, Placement
from harness.scenario.expectations_extender import Calls, Findings
from harness.scenario.extenders import names_of
from harness.scenario.faults import Named
from harness.scenario.model import Body
from harness.scenario.nodes import NodeGroup
from harness.scenario.problems import Path, dotted
from harness.scenario.steps import AddNodes, NodeChoice, RemoveNodes
from harness.scenario.words import did_you_mean, listed, shown

_LISTED_MAX = 12


def crosscheck(body: Body) -> list[tuple[Path, str]]:
    """Return the faults of a scenario whose fields are all valid, as paths and messages."""
    declared, faults = _declared(body)
    # A scenario without nodes of its own runs on a borrowed cluster, whose nodes are not known here.
    if declared:
        faults += [(path, _unknown(name, declared)) for path, name in _named(body) if not _exists(name, declared)]
    return [*faults, *_unknown_extenders(body), *_never_there(body)]


def _never_there(body: Body) -> Iterator[tuple[Path, str]]:
    """Yield a fault for every difference on a provider that the scenario is not for."""
    for provider in body.on:
        if body.clusters is not None and provider not in body.clusters:
            yield ("on", provider), f"the scenario is not for it; clusters: {listed(body.clusters)}"


def _unknown_extenders(body: Body) -> Iterator[tuple[Path, str]]:
    """Yield a fault for every step or expectation that names an extender which the scenario does not bring."""
    known = names_of(body.extenders)
    for part, members in (("steps", body.steps), ("expect", body.expect)):
        for index, member in enumerate(members):
            name = member.extender if isinstance(member, Named | Calls | Findings) else None
            if name and name not in known:
                text = f"no extender is called {shown(name)}{did_you_mean(name, known)} extenders: {listed(known)}"
                yield (part, index, "extender"), text


def _declared(body: Body) -> tuple[dict[str, None], list[tuple[Path, str]]]:
    """Return every node there ever is, and a fault for each that is made while one of its name exists."""
    ever: dict[str, None] = {}
    alive: dict[str, Path] = {}
    faults = list(_add(body.nodes, ("nodes",), alive))
    ever |= dict.fromkeys(alive)
    for index, step in enumerate(body.steps):
        if isinstance(step, AddNodes):
            faults += _add(step.nodes, ("steps", index, "nodes"), alive)
            ever |= dict.fromkeys(alive)
        elif isinstance(step, RemoveNodes):
            # Which nodes a selector removes depends on the run: after it, any name may be free again.
            alive = {} if step.names is None else {name: at for name, at in alive.items() if name not in step.names}
    return ever, faults


def _add(groups: Iterable[NodeGroup], path: Path, alive: dict[str, Path]) -> Iterator[tuple[Path, str]]:
    for index, group in enumerate(groups):
        group_path = (*path, index)
        for node in group.expand():
            if node.name in alive:
                message = f"node name {shown(node.name)} is already taken by {dotted(alive[node.name])}"
                yield group_path, f"{message}; give each group its own name pattern"
                break
            alive[node.name] = group_path


def _named(body: Body) -> Iterator[tuple[Path, str]]:
    """Yield every node that a step or expectation names, with its place."""
    for index, step in enumerate(body.steps):
        if isinstance(step, NodeChoice):
            yield from ((("steps", index, "names", at), name) for at, name in enumerate(step.names or ()))
    for index, expectation in enumerate(body.expect):
        if isinstance(expectation, NodeSet):
            yield from ((("expect", index, "nodes", at), name) for at, name in enumerate(expectation.nodes or ()))
        elif isinstance(expectation, Placement):
            yield from ((("expect", index, "on", pod), node) for pod, node in expectation.on.items())


def _exists(name: str, declared: Iterable[str]) -> bool:
    return name in declared or any(fnmatch.fnmatchcase(node, name) for node in declared)


def _unknown(name: str, declared: dict[str, None]) -> str:
    known = list(declared)
    more = f" and {len(known) - _LISTED_MAX} more" if len(known) > _LISTED_MAX else ""
    return f"no node is called {shown(name)}{did_you_mean(name, known)} nodes: {listed(known[:_LISTED_MAX])}{more}"
