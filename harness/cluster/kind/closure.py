"""`python -m harness.cluster.kind.closure MODULE OUT [ALSO…]`: finds what a module of the harness imports.

A program of its own, because it imports all of it: also what functions of the harness import when they are called.
Writes JSON to the file OUT. Uses the standard library only, or what it uses would count as imported.
"""

import ast
import importlib
import importlib.metadata
import json
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

OWN = "harness"
# What environments load into every interpreter for reasons of their own.
_OF_THE_ENVIRONMENT = ("__editable__", "_distutils_hack", "_virtualenv", "sitecustomize", "usercustomize")
_RUN_AS_MAIN = "__main__"


def main(arguments: Sequence[str]) -> None:
    """Import a module and everything it may import later, and write down what that was."""
    module, out, *also = arguments
    for name in (module, *also):
        importlib.import_module(name)
    if hasattr(sys.modules[module], "__path__"):
        importlib.import_module(f"{module}.{_RUN_AS_MAIN}")
    _import_what_functions_import()
    loaded = {name: one for name, one in list(sys.modules.items()) if name != _RUN_AS_MAIN and _file(one)}
    strangers = _strangers(loaded)
    found = {
        "sources": sorted({str(file) for one in loaded.values() if (file := _file(one))}),
        "packages": sorted(str(place) for name in strangers for place in _places(sys.modules[name])),
        "metadata": sorted(str(place) for place in _metadata(strangers)),
    }
    Path(out).write_text(json.dumps(found), encoding="utf-8")


def imports(source: str) -> Iterator[str]:
    """Yield the modules that a source may import anywhere, and what could be modules among their names."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                # Never run: only what stands in its place is.
                waiting.extend(node.orelse)
                continue
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield module
                yield from (f"{module}.{one.name}" for one in names)
        waiting.extend(ast.iter_child_nodes(node))


def _import_what_functions_import() -> None:
    looked_at: set[str] = set()
    while own := [name for name in sys.modules if name.split(".")[0] == OWN and name not in looked_at]:
        for name in own:
            looked_at.add(name)
            file = _file(sys.modules[name])
            for wanted in imports(file.read_text(encoding="utf-8")) if file and file.suffix == ".py" else ():
                try:
                    importlib.import_module(wanted)
                except ImportError:
                    # A function or class of its module, or something optional that is not installed here either.
                    continue


def _strangers(loaded: dict[str, ModuleType]) -> list[str]:
    """Return the outermost packages that are neither ours nor of the standard library."""
    found = {name.partition(".")[0] for name, one in loaded.items() if not _is_standard(_file(one))}
    return sorted(name for name in found if name != OWN and not name.startswith(_OF_THE_ENVIRONMENT))


def _is_standard(file: Path | None) -> bool:
    if file is None:
        return True
    roots = {Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib")}
    inside = any(file.resolve().is_relative_to(root) for root in roots)
    return inside and not {"site-packages", "dist-packages"} & set(file.parts)


def _places(module: ModuleType) -> Iterator[Path]:
    """Yield where a package or module lies; a namespace lies in several places."""
    if hasattr(module, "__path__"):
        yield from (Path(place) for place in module.__path__ if Path(place).is_dir())
    elif file := _file(module):
        yield file


def _metadata(packages: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that tell the versions of packages: some ask for their own."""
    by_package = importlib.metadata.packages_distributions()
    for name in {one for package in packages for one in by_package.get(package, ())}:
        files = importlib.metadata.distribution(name).files or ()
        yield from {Path(str(one.locate())).parent for one in files if one.name == "METADATA"}


def _file(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


if __name__ == "__main__":
    main(sys.argv[1:])
