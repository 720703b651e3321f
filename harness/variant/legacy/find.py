"""Finds scheduler configurations in a text: documents of their own, or texts inside of a ConfigMap."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import InputError
from harness.scenario import positions
from harness.scenario.positions import Document
from harness.scenario.problems import Problem
from harness.scenario.words import listed, shown
from harness.variant.legacy.base import GROUP, KIND, Source, Spot

POLICY_KEY = "policy.cfg"
_STRING_OR_TAB = re.compile(r'"(?:\\.|[^"\\])*"|\t')
_QUOTED = re.compile(r'\s*\{\s*"')
_NAMED = re.compile(rf"""\bkind["']?\s*:\s*["']?(?:{KIND}|Policy)\b""")
_BLOCK = re.compile(r":\s+(?:[|>][-+0-9]*|!!str [|>][-+0-9]*)\s*(?:#.*)?$")


@dataclass(frozen=True)
class Found:
    """What a text holds.

    Attributes:
        configs: KubeSchedulerConfigurations of any version.
        policies: Policies.
        others: the kinds of all other documents, which are no part of a translation.
        is_embedded: whether some of it stands inside of a ConfigMap.
    """

    configs: tuple[Spot, ...]
    policies: tuple[Spot, ...]
    others: tuple[str, ...]
    is_embedded: bool = False


def find(source: Source) -> Found:
    """Return the scheduler configurations of a text.

    Raises:
        InputError: the text cannot be read.
    """
    configs: list[Spot] = []
    policies: list[Spot] = []
    others: list[str] = []
    is_embedded = False
    for document in _documents(source):
        spot = Spot(source.where, document)
        if _is_config(spot):
            configs.append(spot)
        elif _is_policy(spot):
            policies.append(spot)
        elif inner := _embedded(spot, source):
            is_embedded = True
            configs += [one for one in inner if _is_config(one)]
            policies += [one for one in inner if _is_policy(one)]
        elif document.data is not None:
            others.append(str(spot.get("kind") or shown(document.data)))
    return Found(tuple(configs), tuple(policies), tuple(others), is_embedded)


def is_json(text: str) -> bool:
    """Tell whether a text is JSON rather than YAML's other way of writing."""
    return text.lstrip().startswith("{")


def seen(found: Found) -> str:
    """Return what was seen instead of a configuration."""
    return f"{listed(found.others)} seen" if found.others else "nothing seen"


def _documents(source: Source) -> list[Document]:
    text = source.text
    if is_json(text):
        # JSON may be indented by tabs, YAML may not.
        text = _STRING_OR_TAB.sub(lambda match: " " if match[0] == "\t" else match[0], text)
    documents, problems = positions.read(text.removeprefix("\ufeff"), source.where)
    if not documents and _QUOTED.match(text):
        problems = _json_problems(source) or problems
    if problems:
        raise InputError("\n".join(str(problem) for problem in problems))
    return documents


def _json_problems(source: Source) -> list[Problem]:
    """Return what is wrong with a text as JSON: what YAML would like to see next helps nobody who writes JSON."""
    try:
        json.loads(source.text.removeprefix("\ufeff").rstrip())
    except json.JSONDecodeError as error:
        what = f"{error.msg[:1].lower()}{error.msg[1:]}"
        return [Problem(source.where, error.lineno, (), f"broken JSON: {what}", error.colno)]
    except RecursionError:
        pass
    return []


def _is_config(spot: Spot) -> bool:
    version = spot.get("apiVersion")
    return spot.get("kind") == KIND or (isinstance(version, str) and version.startswith(f"{GROUP}/"))


def _is_policy(spot: Spot) -> bool:
    keys = {"predicates", "priorities", "extenders"}
    unnamed = spot.get("kind") is None and isinstance(spot.data, Mapping) and bool(keys & spot.data.keys())
    return spot.get("kind") == "Policy" or unnamed


def _embedded(spot: Spot, source: Source) -> list[Spot]:
    """Return the configurations that a ConfigMap holds."""
    data = spot.get("data")
    if spot.get("kind") != "ConfigMap" or not isinstance(data, Mapping):
        return []
    found: list[Spot] = []
    lines = source.text.splitlines()
    for part in spot.at("data").parts():
        if not isinstance(part.data, str) or not (part.key == POLICY_KEY or _NAMED.search(part.data)):
            continue
        # Only in a block does every line of the value have a line of its own.
        is_block = bool(_BLOCK.search(lines[part.line - 1]))
        found += [_shifted(one, source.where, part.line, is_block=is_block) for one in _parsed(part)]
    return [one for one in found if _is_config(one) or _is_policy(one)]


def _parsed(part: Spot) -> list[Document]:
    try:
        return _documents(Source(part.data, part.where))
    except InputError as error:
        first = str(error).partition("\n")[0].removeprefix(f"{part.where}:")
        problem = Problem(part.where, part.line, part.path, f"the text inside cannot be read, at its line {first}")
        raise InputError(str(problem)) from None


def _shifted(document: Document, where: str, line: int, *, is_block: bool) -> Spot:
    lines = {path: line + inner if is_block else line for path, inner in document.lines.items()}
    return Spot(where, Document(document.data, lines))
