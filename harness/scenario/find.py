"""Finds scenario files by path, folder or name, and narrows scenarios down by label; an empty choice is an error."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import ScenarioError
from harness.scenario.model import Scenario
from harness.scenario.words import did_you_mean, listed, shown

MUST_FAIL = "must_fail"
"""Folder of scenarios that have to be rejected: found by path or name only, or an ordinary run could never pass."""
MANIFESTS = "manifests"
"""Folder of manifests, which are YAML but no scenarios."""
SUFFIXES = (".yaml", ".yml")

_NAME_LINE = re.compile(r"""^name:[ \t]*["']?([^"'\s#]+)""", re.MULTILINE)
_HEAD_CHARACTERS = 8192
_RECORD = "run.json"


def find(names: Sequence[str], roots: Sequence[Path]) -> list[Path]:
    """Return the scenario files that are meant, each once, in the order they were named.

    A name is a file, a folder (everything below it), a scenario's own name, or a folder below a root. No names at all
    stand for everything below the roots.

    Raises:
        ScenarioError: a name leads nowhere or to more than one scenario, or nothing is found at all.
    """
    found: dict[Path, None] = {}
    problems: list[str] = []
    for name in names or [str(root) for root in roots]:
        try:
            found |= dict.fromkeys(_named(name, roots))
        except ScenarioError as error:
            problems += error.problems
    if not found and not problems:
        problems.append(f"no scenario given, and none found in {_places(roots)}")
    if problems:
        raise ScenarioError(problems)
    return list(found)


def scenario_name(path: Path) -> str | None:
    """Return the name a scenario file gives itself, read without validating it; None if there is none."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            match = _NAME_LINE.search(stream.read(_HEAD_CHARACTERS))
    except OSError:
        return None
    return match[1] if match else None


def select(expression: str, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Return the scenarios that fit an expression such as `lab,-slow`: with all of the labels, none of the minus ones.

    Raises:
        ScenarioError: the expression is empty in a part, or no scenario fits.
    """
    words = [word.strip() for word in expression.split(",")] if expression.strip() else []
    if not all(word.removeprefix("-") for word in words):
        raise ScenarioError([f"labels {shown(expression)}: an empty word seen; write lab,-slow"])
    wanted = {word for word in words if not word.startswith("-")}
    refused = {word.removeprefix("-") for word in words if word.startswith("-")}
    known: dict[str, None] = {}
    selected = []
    for scenario in scenarios:
        known |= dict.fromkeys(scenario.labels)
        if wanted <= set(scenario.labels) and not refused & set(scenario.labels):
            selected.append(scenario)
    if not selected:
        raise ScenarioError([f"labels {shown(expression)}: no scenario fits; labels: {listed(sorted(known))}"])
    return selected


def _named(name: str, roots: Sequence[Path]) -> list[Path]:
    path = Path(name)
    if path.is_file():
        return [_scenario_file(path)]
    if path.is_dir():
        return _below_or_error(path)
    if "/" in name and path.suffix in SUFFIXES and not any((root / name).is_file() for root in roots):
        raise ScenarioError([f"{name}: no such file"])
    # What stands in an earlier root hides what has the same name in a later one.
    matches = next((found for root in roots if (found := _by_name([root]).get(name))), [])
    if len(matches) > 1:
        places = listed(str(match) for match in matches)
        raise ScenarioError([f"scenario {shown(name)}: {len(matches)} files have this name; give a path: {places}"])
    if matches:
        return matches
    for place in (root / name for root in roots):
        if place.is_dir():
            return _below_or_error(place)
        if place.is_file():
            return [_scenario_file(place)]
    by_name = _by_name(roots)
    known = sorted(word for word, places in by_name.items() if any(MUST_FAIL not in p.parts for p in places))
    hint = did_you_mean(name, by_name).rstrip(";") or f"; known: {listed(known)}"
    raise ScenarioError([f"scenario {shown(name)}: neither a path nor a scenario in {_places(roots)}{hint}"])


def _scenario_file(path: Path) -> Path:
    if path.suffix not in SUFFIXES:
        raise ScenarioError([f"{path}: {path.suffix or 'no suffix'} seen, a .yaml file expected"])
    if path.parent.name == MANIFESTS:
        raise ScenarioError([f"{path}: a file in {MANIFESTS}/ is a manifest, a scenario expected"])
    return path


def _below_or_error(folder: Path) -> list[Path]:
    inside = MUST_FAIL in folder.resolve().parts
    found = [path for path in _below(folder) if inside or MUST_FAIL not in path.relative_to(folder).parts]
    if not found:
        raise ScenarioError([f"{folder}: no scenario (*.yaml) in this folder"])
    return found


def _below(folder: Path) -> list[Path]:
    """Return every scenario file below a folder, sorted; manifests and hidden files are none."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        if _RECORD in files or Path(place).name == MANIFESTS:
            # A record keeps a copy of its scenario, which is not meant to be run in its place, and a configuration.
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in files if Path(name).suffix in SUFFIXES and not name.startswith(".")]
    return sorted(path for path in found if path.is_file())


def _by_name(roots: Sequence[Path]) -> dict[str, list[Path]]:
    by_name: dict[str, list[Path]] = {}
    for path in dict.fromkeys(path for root in roots if root.is_dir() for path in _below(root)):
        name = scenario_name(path)
        if name:
            by_name.setdefault(name, []).append(path)
    return by_name


def _places(roots: Sequence[Path]) -> str:
    return " or ".join(str(root) for root in roots) or "any folder"
