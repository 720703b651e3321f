"""A profile of the new configuration while it is made: plugins by point, and arguments by plugin."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.scenario.problems import Path
from harness.variant.legacy.names import AFFINITY, ALL, FIT


@dataclass
class Profile:
    """A profile; `path` is its place in the new configuration."""

    path: Path
    head: dict[str, Any] = field(default_factory=dict)
    points: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)

    def enable(self, point: str, name: str, weight: Any = None) -> None:
        """Enable a plugin at a point unless it is; the heavier weight wins, as it did in a Policy."""
        chosen = self.points.setdefault(point, {}).setdefault("enabled", [])
        for plugin in chosen:
            if plugin.get("name") == name:
                if isinstance(weight, int) and weight > (plugin.get("weight") or 0):
                    plugin["weight"] = weight
                return
        chosen.append({"name": name} | ({} if weight is None else {"weight": weight}))

    def disable(self, point: str, names: Iterable[str]) -> None:
        """Disable plugins at a point."""
        wanted = list(names)
        left_out = self.points.setdefault(point, {}).setdefault("disabled", []) if wanted else []
        left_out += [{"name": name} for name in wanted if {"name": name} not in left_out]

    def names(self, point: str, chosen: str) -> list[Any]:
        """Return the names that are enabled or disabled at a point."""
        return [plugin.get("name") for plugin in self.points.get(point, {}).get(chosen, [])]

    def clears(self, point: str) -> bool:
        """Return whether the defaults of a point are all disabled."""
        return ALL in self.names(point, "disabled")

    def arguments_of(self, name: str) -> dict[str, Any]:
        """Return the arguments of a plugin, to be changed in place."""
        found = self.arguments.setdefault(name, {})
        return found if isinstance(found, dict) else {}

    def place_of(self, name: str) -> Path:
        """Return where the arguments of a plugin stand in the new configuration."""
        names = list(self.arguments)
        return (*self.path, "pluginConfig", names.index(name)) if name in names else self.path

    def score_by(self, strategy: str, arguments: Mapping[str, Any] | None = None) -> None:
        """Let NodeResourcesFit score by a strategy, with the resources and the shape that another plugin had."""
        made: dict[str, Any] = {"type": strategy}
        given = arguments or {}
        if given.get("resources"):
            made["resources"] = given["resources"]
        if given.get("shape"):
            made["requestedToCapacityRatio"] = {"shape": given["shape"]}
        self.arguments_of(FIT)["scoringStrategy"] = made

    def require_labels(self, present: Iterable[str], absent: Iterable[str]) -> None:
        """Keep pods to nodes that have some labels and lack others, whatever the pods say."""
        wanted = [{"key": key, "operator": "Exists"} for key in present]
        wanted += [{"key": key, "operator": "DoesNotExist"} for key in absent]
        affinity = self.arguments_of(AFFINITY).setdefault("addedAffinity", {})
        required = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {})
        terms = required.setdefault("nodeSelectorTerms", [])
        # Terms are alternatives, so that every one of them needs the labels.
        for term in terms:
            term.setdefault("matchExpressions", []).extend(wanted)
        if not terms:
            terms.append({"matchExpressions": wanted})

    def to_json(self) -> dict[str, Any]:
        """Return the profile as the configuration spells it, without what is empty."""
        points: dict[str, Any] = {}
        for point, chosen in self.points.items():
            sets = {key: plugins for key, plugins in chosen.items() if plugins}
            if sets:
                points[point] = sets
        made = dict(self.head)
        if points:
            made["plugins"] = points
        if self.arguments:
            made["pluginConfig"] = [
                {"name": name} | ({} if args is None else {"args": args}) for name, args in self.arguments.items()
            ]
        return made
