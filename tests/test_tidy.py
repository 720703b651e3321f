"""Keeps the project small-grained and complete; every complaint names the file, the number, and what to do."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.registry import CLUSTERS
from harness.expect.invariants import INVARIANTS
from harness.expect.judge import registry
from harness.registry import Registry
from harness.scenario.find import find
from harness.scenario.load import load
from harness.variant.registry import VARIANTS

ROOT = Path(__file__).parents[1]
FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 50
# Put together, or this file would complain about itself.
LEFT_UNDONE = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
SPEAKING = {".py", ".go", ".yaml", ".toml", ".md"}
# The API server refuses a second binding, and no step ends a node as an accident would: tests/unit prove these two.
UNPROVOKABLE = {"doubleBinding", "nodesAlive"}


def files(root: Path, *suffixes: str) -> list[Path]:
    """Return the project's own files: nothing hidden, generated or downloaded."""
    found = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith((".", "__"))]
        found += [Path(folder) / name for name in names if Path(name).suffix in suffixes]
    return sorted(path for path in found if path.relative_to(root).parts[0] != "reports")


def long_files(root: Path) -> Iterator[str]:
    for path in files(root, ".py", ".go"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES_MAX:
            yield f"{path.relative_to(root)}: {lines} lines, at most {FILE_LINES_MAX}; split it by what it is about"


def functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield name, first line and length of every function of a Python or Go file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1
        return
    for match in re.finditer(r"^func (?:\([^)]*\) )?(\w+).*?^\}", text, re.MULTILINE | re.DOTALL):
        yield match[1], text[: match.start()].count("\n") + 1, match[0].count("\n") + 1


def long_functions(root: Path) -> Iterator[str]:
    for path in files(root, ".py", ".go"):
        for name, line, length in functions(path):
            if length > FUNCTION_LINES_MAX:
                where = f"{path.relative_to(root)}:{line}: {name}"
                yield f"{where}: {length} lines, at most {FUNCTION_LINES_MAX}; give a part of it a name of its own"


def left_undone(root: Path) -> Iterator[str]:
    for path in files(root, *SPEAKING):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := LEFT_UNDONE.search(line):
                yield f"{path.relative_to(root)}:{number}: {match[0]}; do it, or write an issue"


def unused_manifests(scenarios: Path) -> Iterator[str]:
    used = set()
    for folder in (scenarios, scenarios / "must_fail"):
        for path in find([str(folder)], [folder]) if folder.is_dir() else ():
            for scenario in load(path).scenarios.values():
                used |= {(path.parent / name).resolve() for name in scenario.manifests}
    for path in files(scenarios, ".yaml", ".yml"):
        if path.parent.name == "manifests" and path.resolve() not in used:
            yield f"{path.relative_to(scenarios)}: no scenario creates it; name it in one, or remove it"


def unregistered(folder: Path, method: str, known: Registry) -> Iterator[str]:
    """Find classes with a name and a method of their own that no registry leads to."""
    registered = set(known.built_in.values())
    for path in files(folder, ".py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            names = {target.id for part in node.body if isinstance(part, ast.Assign) for target in _names(part)}
            if method in methods and "name" in names and f"{module}:{node.name}" not in registered:
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} is in no registry; nobody can choose it"


def _names(assignment: ast.Assign) -> list[ast.Name]:
    return [target for target in assignment.targets if isinstance(target, ast.Name)]


def complain(complaints: Iterator[str]) -> None:
    found = list(complaints)
    assert not found, "\n" + "\n".join(found)


def test_files_are_short() -> None:
    complain(long_files(ROOT))


def test_functions_are_short() -> None:
    complain(long_functions(ROOT))


def test_nothing_is_left_undone() -> None:
    complain(left_undone(ROOT))


def test_every_manifest_is_used() -> None:
    complain(unused_manifests(ROOT / "scenarios"))


def test_every_provider_and_variant_can_be_chosen() -> None:
    complain(unregistered(ROOT / "harness" / "cluster", "cluster", CLUSTERS))
    complain(unregistered(ROOT / "harness" / "variant", "install", VARIANTS))


@pytest.mark.parametrize("known", [CLUSTERS, VARIANTS], ids=lambda known: known.noun)
def test_everything_registered_can_be_made(known: Registry) -> None:
    for name, target in known.built_in.items():
        made = known.make(name)
        assert made.name == name, f"{target}: calls itself {made.name}, registered as {name}; make them agree"


@pytest.mark.parametrize("kind", sorted({*registry, *INVARIANTS} - UNPROVOKABLE))
def test_every_kind_has_a_scenario_that_it_must_reject(kind: str) -> None:
    stem = re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", kind)
    path = ROOT / "scenarios" / "must_fail" / f"{stem}.yaml"
    assert path.is_file(), f"{path}: missing; write a scenario that {kind} must reject, or a green run proves nothing"


def test_the_complaints_themselves(tmp_path: Path) -> None:
    body = "    x = 1\n" * FUNCTION_LINES_MAX
    (tmp_path / "long.py").write_text(f"def f():\n{body}" + "\n" * FILE_LINES_MAX)
    (tmp_path / "long.go").write_text("package x\n\nfunc (t T) Go() {\n" + "\tx()\n" * FUNCTION_LINES_MAX + "}\n")
    (tmp_path / "fine.py").write_text("def f():\n    return 1\n")
    (tmp_path / "note.md").write_text("one\n" + "TO" + "DO later\n")
    assert list(long_files(tmp_path)) == ["long.py: 351 lines, at most 300; split it by what it is about"]
    assert [line.split("; ")[0] for line in long_functions(tmp_path)] == [
        "long.go:3: Go: 52 lines, at most 50",
        "long.py:1: f: 51 lines, at most 50",
    ]
    assert len(list(left_undone(tmp_path))) == 1


def test_the_complaint_about_manifests(tmp_path: Path) -> None:
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    for name in ("used", "unused"):
        (manifests / f"{name}.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    (tmp_path / "s.yaml").write_text(
        "name: s\nsummary: x\nsteps: [{op: create, file: manifests/used.yaml}]\nexpect: [{kind: count, total: 0}]\n"
    )
    assert list(unused_manifests(tmp_path)) == [
        "manifests/unused.yaml: no scenario creates it; name it in one, or remove it"
    ]


def test_the_complaint_about_registries() -> None:
    nothing = Registry("cluster", "harness.nothing", {})
    found = list(unregistered(ROOT / "harness" / "cluster", "cluster", nothing))
    assert len(found) == len(CLUSTERS.built_in)
    assert "EmbeddedProvider is in no registry" in found[0]
