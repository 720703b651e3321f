"""Finds the extender that a text names: `ref:NAME?key=value` or `py:module:callable`.

What `py:` names is taken like this: a class or a factory is called, with `seed=` and `kube=` if it has such parameters;
an instance is used as it is; a function called filter, prioritize, preempt or bind is that one verb; any other function
of (pod, nodes) both filters and scores: scores (a dict) keep every node, kept nodes (a list or Filtered) score 0.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from harness.errors import InputError
from harness.extender.author import Node, Pod, Scores, Verdicts
from harness.extender.references import REFERENCES
from harness.extender.serving.app import KINDS

if TYPE_CHECKING:
    from harness.kube import Kube

_DECISION_PARAMETERS = 2


@dataclass(frozen=True)
class Given:
    """What an extender may ask for when it is made."""

    seed: int = 0
    kubeconfig: Path | None = None
    options: Mapping[str, str] | None = None


class Decision:
    """An extender made of one function of (pod, nodes) that returns either scores or the nodes it keeps."""

    def __init__(self, decide: Callable[[Pod, list[Node]], Any]) -> None:
        self._decide = decide

    def filter(self, pod: Pod, nodes: list[Node]) -> Verdicts:
        """Return what the function keeps; everything, if it gives scores."""
        decided = self._decide(pod, nodes)
        return nodes if isinstance(decided, Mapping) else decided

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Return the function's scores; 0 for all, if it keeps nodes."""
        decided = self._decide(pod, nodes)
        return decided if isinstance(decided, Mapping) else {node.name: 0 for node in nodes}


class Single:
    """An extender made of one function that is called like the verb it serves."""

    def __init__(self, kind: str, function: Callable[..., Any]) -> None:
        setattr(self, kind, function)


def resolve(target: str, given: Given) -> tuple[object, Mapping[str, str]]:
    """Return the extender that a target names, and the routes that it wants renamed.

    Raises:
        InputError: there is no such thing, or it cannot be made of what was given.
    """
    scheme, _, rest = target.partition(":")
    if scheme == "ref":
        return _reference(rest, given)
    if scheme == "py":
        return _python(target, rest, given), {}
    raise InputError(f'{target!r}: "ref:NAME" or "py:module:callable" expected')


def _reference(text: str, given: Given) -> tuple[object, Mapping[str, str]]:
    name, _, query = text.partition("?")
    options = {**dict(parse_qsl(query, keep_blank_values=True)), **(given.options or {})}
    reference = REFERENCES.get(name)
    if reference is None:
        from harness.scenario.words import did_you_mean, listed  # noqa: PLC0415 - slow to load, and rarely needed

        raise InputError(f'"ref:{name}": no such reference{did_you_mean(name, REFERENCES)} known: {listed(REFERENCES)}')
    made = _called(f"ref:{name}", reference.make, Given(given.seed, given.kubeconfig, options))
    return made, reference.routes


def _python(target: str, rest: str, given: Given) -> object:
    module, colon, attribute = rest.partition(":")
    if not (module and colon and attribute):
        raise InputError(f'{target!r}: "py:module:callable" expected, such as py:my_extender:Careful')
    # As for `python my_extender.py`: what lies in the current folder can be imported.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"{target!r}: {error}; looked in {Path.cwd()} and where Python always looks") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            names = [name for name in vars(found) if not name.startswith("_")]
            raise InputError(f"{target!r}: no {part!r} in {module}; it has {', '.join(names) or 'nothing'}")
        found = getattr(found, part)
    extender = _made(target, found, given)
    if not any(callable(getattr(extender, kind, None)) for kind in KINDS):
        raise InputError(f"{target!r}: {type(extender).__name__} has none of the methods {', '.join(KINDS)}")
    return extender


def _made(target: str, found: Any, given: Given) -> object:
    if inspect.isclass(found):
        return _called(target, found, given)
    if not inspect.isroutine(found):
        return found
    if found.__name__ in KINDS:
        return Single(found.__name__, found)
    needed = [one.name for one in inspect.signature(found).parameters.values() if one.default is one.empty]
    if len(needed) == _DECISION_PARAMETERS and not {"seed", "kube"} & set(needed):
        return Decision(found)
    return _called(target, found, given)


def check_options(target: str, make: Callable[..., Any], options: Iterable[str]) -> None:
    """Refuse options that what makes an extender does not know.

    Raises:
        InputError: there is one; lists those that are known.
    """
    parameters = inspect.signature(make).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for name in options:
        if name in {"seed", "kube"} or (name not in parameters and not takes_all):
            known = [one for one in parameters if one not in {"seed", "kube"}]
            raise InputError(f"{target!r}: unknown option {name!r}; known: {', '.join(known) or 'none'}")


def _called(target: str, make: Callable[..., Any], given: Given) -> object:
    parameters = inspect.signature(make).parameters
    options = dict(given.options or {})
    check_options(target, make, options)
    arguments: dict[str, Any] = dict(options)
    if "seed" in parameters:
        arguments["seed"] = given.seed
    if "kube" in parameters:
        if given.kubeconfig is not None:
            arguments["kube"] = _kube(given.kubeconfig)
        elif parameters["kube"].default is inspect.Parameter.empty:
            raise InputError(f"{target!r}: it needs a cluster; give one with --kubeconfig")
    missing = [
        name
        for name, one in parameters.items()
        if name not in arguments and one.default is one.empty and one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL}
    ]
    if missing:
        raise InputError(f"{target!r}: {', '.join(missing)} must be given; add --option {missing[0]}=VALUE")
    return make(**arguments)


def _kube(kubeconfig: Path) -> "Kube":
    from harness.extender.serving.cluster import LateKube  # noqa: PLC0415 - most extenders need no cluster

    if not kubeconfig.is_file():
        raise InputError(f"--kubeconfig {kubeconfig}: no such file")
    kube = LateKube(kubeconfig)
    kube.warm_up()
    return kube
