"""Takes the plain data of a scenario file to one validated scenario per size, and gathers what stands in the way."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.scenario import positions, problems
from harness.scenario.clusters import Difference
from harness.scenario.crosscheck import crosscheck
from harness.scenario.explain import explain
from harness.scenario.manifests import check_file, read_objects
from harness.scenario.model import SIZE_DEFAULT, File, Scenario, Size
from harness.scenario.parameters import Substitution, unbraced
from harness.scenario.problems import Problem
from harness.scenario.words import did_you_mean, listed, shown

# Files that are read as they are: what stands in them is for a variant to understand.
_FILES = (("schedulerConfig",), ("schedulerManifest",))
_NOT_SUBSTITUTED = ("name", "parameters", "sizes", "on")
NO_MORE: Mapping[str, Any] = {}
_TYPE_EXPECTED = ("number expected", "false expected", "list expected")


@dataclass
class Resolver:
    """One scenario file on its way through substitution and validation."""

    path: Path
    text: str
    document: positions.Document
    used: set[str] = field(default_factory=set)
    manifests_readable: bool = True

    def resolve(self) -> tuple[dict[str, Scenario], list[Problem]]:
        """Return the scenario at every valid size, and every problem; there are either problems or all sizes."""
        defaults = self.document.data.get("parameters")
        sizes, sound = self._sizes()
        if defaults is None:
            defaults = {}
        elif not isinstance(defaults, dict):
            defaults, sound = {}, False
        differences, readable = self._differences()
        sound = sound and readable
        scenarios, found = self._everywhere(sizes, defaults, sound=sound)
        only_there: list[Problem] = []
        for provider, difference in differences.items():
            if difference.parameters:
                there, more = self._everywhere(sizes, defaults, difference.parameters, sound=sound)
                only_there += [problem.on_cluster(provider) for problem in more if problem not in found]
                for name in there.keys() & scenarios.keys():
                    scenarios[name].elsewhere[provider] = there[name]
        unused = self._unused(defaults, sizes, differences) if sound and self.manifests_readable else []
        return scenarios, [*found, *only_there, *unused]

    def _everywhere(
        self, sizes: list[Size], defaults: dict[str, Any], more: Mapping[str, Any] = NO_MORE, *, sound: bool
    ) -> tuple[dict[str, Scenario], list[Problem]]:
        """Return the scenario at every size with some parameters replaced, and the problems of all sizes."""
        scenarios = {}
        by_size: dict[str, list[Problem]] = {}
        for size in sizes:
            scenario, by_size[size.name] = self._at(size, {**defaults, **size.parameters, **more}, sound=sound)
            if scenario is not None:
                scenarios[size.name] = scenario
        return scenarios, problems.merged(by_size)

    def _differences(self) -> tuple[dict[str, Difference], bool]:
        """Return what differs on which provider as far as it can be read, and whether that is all."""
        raw = self.document.data.get("on")
        found = {}
        for provider, item in raw.items() if isinstance(raw, dict) else ():
            with contextlib.suppress(ValidationError):
                found[provider] = Difference.model_validate(item, by_alias=True, by_name=False)
        return found, len(found) == len(raw if isinstance(raw, dict) else found)

    def _sizes(self) -> tuple[list[Size], bool]:
        """Return the sizes that can be read, and whether that is all of them."""
        raw = self.document.data.get("sizes")
        if raw is None:
            return [Size(name=SIZE_DEFAULT)], True
        sizes = []
        for item in raw if isinstance(raw, list) else ():
            try:
                sizes.append(Size.model_validate(item, by_alias=True, by_name=False))
            except ValidationError:
                continue
        sound = isinstance(raw, list) and len(sizes) == len(raw)
        return sizes or [Size(name=SIZE_DEFAULT)], sound

    def _at(self, size: Size, parameters: dict[str, Any], *, sound: bool) -> tuple[Scenario | None, list[Problem]]:
        """Return the scenario at one size, and its problems.

        Unless the parameters are sound, nothing is said about references to them: those problems would only follow.
        """
        substitution = Substitution(parameters)
        data = substitution.apply(self.document.data, keep=_NOT_SUBSTITUTED)
        unresolved = list(substitution.faults)
        found = [self._problem(path, message) for path, message in unresolved] if sound else []
        texts, in_manifests = self._manifests(data, substitution)
        found += in_manifests if sound else []
        self.used |= substitution.used
        try:
            file = File.model_validate(data, by_alias=True, by_name=False)
        except ValidationError as error:
            skipped = {path for path, _ in unresolved}
            faults = [(path, message) for path, message in explain(error, File, data) if path not in skipped]
            return None, found + [self._problem(path, message) for path, message in faults]
        found += [self._problem(path, message) for path, message in crosscheck(file)]
        return self._scenario(file, size, dict(substitution.parameters), texts), found

    def _scenario(self, file: File, size: Size, parameters: dict[str, Any], texts: dict[str, str]) -> Scenario:
        return Scenario(
            name=file.name,
            size=size.name,
            summary=file.summary,
            labels=tuple(dict.fromkeys((*file.labels, *size.labels))),
            variants=file.variants,
            clusters=size.clusters or file.clusters,
            on=file.on,
            extenders=file.extenders,
            scheduler_config=file.scheduler_config,
            scheduler_manifest=file.scheduler_manifest,
            scheduler=file.scheduler,
            plugins=file.plugins,
            controller=file.controller,
            timeout_seconds=file.timeout_seconds,
            nodes=file.nodes,
            steps=file.steps,
            expect=file.expect,
            parameters=parameters,
            source=self.text,
            manifests=texts,
            path=self.path,
        )

    def _manifests(self, data: dict[str, Any], substitution: Substitution) -> tuple[dict[str, str], list[Problem]]:
        """Return the text of every manifest the steps name, and what is wrong with them."""
        texts: dict[str, str] = {}
        found: list[Problem] = []
        for path, name in _manifest_names(data):
            place = self.path.parent / name
            try:
                texts[name] = place.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                self.manifests_readable = False
                found.append(self._problem(path, self._unreadable(name, error)))
                continue
            if path in _FILES:
                continue
            objects, in_manifest = read_objects(texts[name], str(place), substitution)
            self.manifests_readable = self.manifests_readable and bool(objects or in_manifest)
            found += in_manifest
        return texts, found

    def _unreadable(self, name: str, error: Exception) -> str:
        beside = self.path.parent
        there = sorted(p.relative_to(beside).as_posix() for p in (*beside.glob("*.yaml"), *beside.glob("*/*.yaml")))
        reason = getattr(error, "strerror", None) or str(error)
        known = did_you_mean(name, [other for other in there if other != self.path.name])
        return f"manifest {shown(name)} cannot be read: {reason}{known} looked in {beside}"

    def _unused(self, defaults: dict[str, Any], sizes: list[Size], differences: dict[str, Difference]) -> list[Problem]:
        known = sorted(self.used)
        places: list[problems.Path] = [("parameters", name) for name in defaults]
        places += [
            ("sizes", index, "parameters", name)
            for index, size in enumerate(sizes)
            for name in size.parameters
            if name not in defaults
        ]
        places += [
            ("on", provider, "parameters", name) for provider, one in differences.items() for name in one.parameters
        ]
        return [
            self._problem(place, f"unused parameter{did_you_mean(str(place[-1]), known)} used: {listed(known)}")
            for place in places
            if place[-1] not in self.used
        ]

    def _problem(self, path: problems.Path, message: str) -> Problem:
        typed = unbraced(self._raw(path))
        if typed and message.endswith(_TYPE_EXPECTED):
            message += f"; write {typed} without braces to keep its type"
        return Problem(str(self.path), self.document.line(path), path, message)

    def _raw(self, path: problems.Path) -> Any:
        """Return what the file says at a path, before substitution, or None."""
        value: Any = self.document.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value


def _manifest_names(data: dict[str, Any]) -> Iterator[tuple[problems.Path, str]]:
    steps = data.get("steps")
    named: list[tuple[problems.Path, Any]] = [(path, data.get(path[0])) for path in _FILES]
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict) and step.get("op") == "create":
            named.append((("steps", index, "file"), step.get("file")))
    for path, name in named:
        try:
            if isinstance(name, str):
                yield path, check_file(name)
        except ValueError:
            continue  # Validation says what is wrong with the name.
