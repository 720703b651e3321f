"""The Go module of a scheduler that is built: that of the control plane, whose packages are compiled, and plugins."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.cluster.embedded.releases import Release, releases
from harness.errors import BuildError, CommandError, InputError
from harness.plugin.source import PluginSource
from harness.process import run
from harness.toolchain import Toolchain

NAME = "harness.test/scheduler"
# Where a plugin without a module of its own stands in the scheduler's.
PLACE = "plugin.test"

_PATH_ELEMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_KUBERNETES = re.compile(r"v1\.(\d+)\.\d+\S*")
_LOCAL_REPLACE = re.compile(r"=>\s*(\.{1,2}/\S*|/\S+|\.{1,2})\s*(?://.*)?$", re.MULTILINE)
_STAGED = re.compile(r"v0\.([1-9]\d*)\.\d+\S*")


@dataclass
class Module:
    """What goes into the scheduler's module file, and what Go is to see in place of a plugin's own module file."""

    requirements: list[str] = field(default_factory=list)
    replacements: list[str] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    overlay: dict[Path, str] = field(default_factory=dict)
    is_open: bool = False
    """Whether plugins bring modules that the release does not pin."""

    def add(self, path: str, folder: Path) -> None:
        """Take a module from a folder."""
        self.requirements.append(f"require {path} v0.0.0")
        self.replacements.append(f"replace {path} => {_quoted(folder)}")

    def text(self, release: Release) -> str:
        """Return the module file."""
        pinned = re.sub(r"^module \S+$", f"module {NAME}", release.module_file.read_text(), count=1, flags=re.MULTILINE)
        return "\n".join([pinned, *self.requirements, *dict.fromkeys(self.replacements), ""])

    def sum_text(self, release: Release) -> str:
        """Return the file of checksums."""
        return "\n".join([release.module_file.with_suffix(".sum").read_text(), *self.sums, ""])


def module_of(plugins: Sequence[PluginSource], release: Release, go: Toolchain) -> tuple[Module, list[str]]:
    """Return the module that has all plugins, and the import path of each.

    Raises:
        InputError: a plugin is written for another Kubernetes minor.
        BuildError: a plugin's go.mod cannot be read.
    """
    module = Module()
    paths: dict[Path, str] = {}
    pinned = set(re.findall(r"^\s+([\w./-]+) v\S+", release.module_file.read_text(), re.MULTILINE))
    for number, plugin in enumerate(plugins):
        if plugin.root in paths:
            continue
        if plugin.module is None:
            element = plugin.folder.name if _PATH_ELEMENT.fullmatch(plugin.folder.name) else f"plugin{number}"
            taken = f"{PLACE}/{element}" in paths.values()
            path = f"{PLACE}/{element}{number if taken else ''}"
            module.overlay[plugin.folder / "go.mod"] = f"module {path}\n\ngo {release.go}\n"
        else:
            path = _join(module, plugin, release, go, pinned)
        paths[plugin.root] = path
        module.add(path, plugin.root)
    return module, [_import_path(plugin, paths[plugin.root]) for plugin in plugins]


def replaced_folders(plugin: PluginSource) -> list[Path]:
    """Return the folders that a plugin's go.mod puts in the place of modules."""
    if plugin.module is None:
        return []
    text = (plugin.module / "go.mod").read_text(encoding="utf-8", errors="replace")
    return [(plugin.module / path).resolve() for path in _LOCAL_REPLACE.findall(text)]


def _import_path(plugin: PluginSource, module: str) -> str:
    below = plugin.folder.relative_to(plugin.root).as_posix()
    return module if below == "." else f"{module}/{below}"


def _join(module: Module, plugin: PluginSource, release: Release, go: Toolchain, pinned: set[str]) -> str:
    """Add what a plugin's own module asks for, except for what the release pins, and return its path."""
    file = plugin.root / "go.mod"
    try:
        facts: dict[str, Any] = json.loads(
            run([str(go.program), "mod", "edit", "-json", str(file)], env=go.environment())
        )
    except CommandError as error:
        raise BuildError(f"{plugin.text}: {error.output.strip()}") from error
    requirements = facts.get("Require") or []
    _refuse_other_minor(plugin, file, facts, release)
    # What another package of the release needs is the release's business, and would be compiled anew.
    kept = [one for one in requirements if not _is_pinned(one["Path"], pinned, indirect=one.get("Indirect", False))]
    lines = [f"require {one['Path']} {one['Version']}" for one in kept]
    path = str(facts["Module"]["Path"])
    module.overlay[file] = "\n".join([f"module {path}", "", f"go {facts.get('Go', release.go)}", *lines, ""])
    for one in facts.get("Replace") or []:
        if not _is_pinned(one["Old"]["Path"], pinned, indirect=True):
            module.replacements.append(_replacement(one, plugin.root))
    sums = plugin.root / "go.sum"
    module.sums += sums.read_text().splitlines() if sums.is_file() else []
    module.is_open = module.is_open or bool(kept)
    return path


def _is_pinned(path: str, pinned: set[str], *, indirect: bool) -> bool:
    return path.startswith("k8s.io/") or (indirect and path in pinned)


def _replacement(one: dict[str, Any], root: Path) -> str:
    old, new = one["Old"], one["New"]
    target = new["Path"]
    if target.startswith((".", "/")):
        target = _quoted((root / target).resolve())
    return " ".join(
        part for part in ("replace", old["Path"], old.get("Version"), "=>", target, new.get("Version")) if part
    )


def _refuse_other_minor(plugin: PluginSource, file: Path, facts: dict[str, Any], release: Release) -> None:
    replaced = [one["New"] for one in facts.get("Replace") or [] if one["Old"]["Path"].startswith("k8s.io/")]
    for one in [*(facts.get("Require") or []), *replaced]:
        path, version = one["Path"], one.get("Version", "")
        match = (_KUBERNETES if path == "k8s.io/kubernetes" else _STAGED).fullmatch(version)
        if not path.startswith("k8s.io/") or not match or f"1.{match[1]}" == release.minor:
            continue
        asked = f"1.{match[1]}"
        text = file.read_text().splitlines()
        line = next((number for number, line in enumerate(text, 1) if path in line and version in line), 1)
        supported = asked in {known.minor for known in releases()}
        other = f"choose --kubernetes {asked}, or " if supported else ""
        raise InputError(
            f"{file}:{line}: {path} {version} seen, so the plugin is for Kubernetes {asked}; the cluster runs "
            f"{release.version}; {other}change it to {release.minor}: go get k8s.io/kubernetes@v{release.version}"
        )


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)
