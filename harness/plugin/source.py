"""A plugin that a user brings, read from one line of text and from its Go sources. Builds nothing; see build.py."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.scenario.words import did_you_mean, listed, shown

FORM = "go:FOLDER[:PACKAGE.CONSTRUCTOR]"
CONSTRUCTOR = "New"

_TARGET = re.compile(r"(?:(?P<package>[\w./-]+)\.)?(?P<constructor>[A-Za-z_]\w*)")
# Enough to find declarations at the top level: comments and texts in backquotes could hold lines that look like one.
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|`[^`]*`", re.DOTALL)
_PACKAGE = re.compile(r"^package (\w+)", re.MULTILINE)
_NAME = re.compile(r"^(?:const|var) Name\b|^(?:const|var) \((?:\n(?:[ \t]+[^\n]*)?)*?\n[ \t]+Name\b", re.MULTILINE)
# What the method tells that the framework asks a plugin for its name with.
_TOLD = re.compile(r'^func \([^)]*\) Name\(\) string \{\s*return ("[^"\n]*"|\w+)\s*\}', re.MULTILINE)
_FUNCTION = re.compile(r"^func ([A-Z]\w*)\(", re.MULTILINE)


@dataclass(frozen=True)
class PluginSource:
    """A Go package with a plugin.

    `folder` holds the package, `module` the go.mod it belongs to, if there is one. `name` is what configurations call
    the plugin, in Go: what the package exports, or a text in quotes.
    """

    text: str
    folder: Path
    package: str
    constructor: str
    name: str
    module: Path | None

    @property
    def root(self) -> Path:
        """Return the folder that everything of it lies in."""
        return self.module or self.folder

    @classmethod
    def parse(cls, text: str) -> "PluginSource":
        """Return the plugin that a text stands for: go:FOLDER, or go:FOLDER:PACKAGE.CONSTRUCTOR.

        PACKAGE is the name of the folder's own package, or the path of one below it.

        Raises:
            InputError: there is no such folder, package or constructor; says what there is.
        """
        kind, _, rest = text.strip().partition(":")
        if kind != "go" or not rest:
            raise InputError(f"{shown(text)} is no plugin; {FORM} expected")
        folder, target = Path(rest), ""
        if not folder.is_dir() and ":" in rest:
            path, _, target = rest.rpartition(":")
            folder = Path(path)
        if not folder.is_dir():
            raise InputError(f"{text}: no folder {folder}; name the folder of the plugin's Go package")
        match = _TARGET.fullmatch(target or CONSTRUCTOR)
        if not match:
            raise InputError(f"{text}: {shown(target)} seen, PACKAGE.CONSTRUCTOR expected, such as sample.New")
        folder = _package_folder(text, folder.resolve(), match["package"])
        return _read(text, folder, match["constructor"])


def _package_folder(text: str, folder: Path, package: str | None) -> Path:
    if package is None or package == _package_of(folder):
        return folder
    if (folder / package).is_dir():
        return folder / package
    below = {str(path.parent.relative_to(folder)) for path in folder.rglob("*.go")} - {"."}
    own = _package_of(folder)
    known = sorted(below | ({own} if own else set()))
    raise InputError(
        f"{text}: no package {shown(package)} there{did_you_mean(package, known)} known: {listed(known) or 'none'}"
    )


def _read(text: str, folder: Path, constructor: str) -> PluginSource:
    sources = list(_sources(folder))
    package = _package_of(folder)
    if package is None:
        raise InputError(f"{text}: no Go files in {folder}; name the folder of the plugin's package")
    if package == "main":
        raise InputError(
            f"{text}: its package is main, so it cannot be compiled into a scheduler; "
            "move the plugin to a package of its own: the harness writes the main program"
        )
    functions = sorted({name for source in sources for name in _FUNCTION.findall(source)})
    if constructor not in functions:
        hint = f"its functions: {listed(functions)}" if functions else "it exports no function"
        raise InputError(f"{text}: package {package} has no function {constructor}; {hint}")
    module = next((one for one in (folder, *folder.parents) if (one / "go.mod").is_file()), None)
    return PluginSource(text, folder, package, constructor, _name("\n".join(sources), package), module)


def _name(source: str, package: str) -> str:
    """Return the exported `Name`, else what the plugin's own `Name()` tells; the package's name if neither says it."""
    if _NAME.search(source):
        return "Name"
    told = set(_TOLD.findall(source))
    if len(told) == 1:
        name = str(told.pop())
        if name.startswith('"') or name[0].isupper():
            return name
        if value := re.search(rf'^(?:const |var |[ \t]+){name}(?: string)?\s*=\s*("[^"\n]*")', source, re.MULTILINE):
            return value[1]
    return json.dumps(package)


def _package_of(folder: Path) -> str | None:
    for source in _sources(folder):
        if match := _PACKAGE.search(source):
            return match[1]
    return None


def _sources(folder: Path) -> Iterator[str]:
    """Yield the Go files of a package without their comments, in a steady order; tests are not part of it."""
    for path in sorted(folder.glob("*.go")):
        if not path.name.endswith("_test.go") and not path.name.startswith(("_", ".")):
            yield _COMMENTS.sub("", path.read_text(encoding="utf-8", errors="replace"))
