"""Builds a subject's Go folder into the user's cache. Builds again exactly when a source has changed."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from harness import cache, progress, toolchain
from harness.errors import SHOWN_LINES, BuildError, CommandError, InputError
from harness.extender.subject import revision
from harness.extender.subject.there import go_module
from harness.paths import cache_folder
from harness.process import run

PROGRAM = "subject"
PROGRAMS_SHOWN = 5
# Of a larger file, which is no source, size and time of change have to do.
READ_BYTES_MAX = 1_000_000

_LOCAL_REPLACE = re.compile(r"=>\s*(\.{1,2}/\S*|/\S+|\.{1,2})\s*(?://.*)?$", re.MULTILINE)


def program_of(folder: Path) -> Path:
    """Return the program that a Go folder builds to; FOLDER@REVISION is the folder as a Git revision has it.

    Raises:
        InputError: there is no such folder, no such revision, or it holds no program.
        BuildError: it does not compile; carries what the compiler said.
        MissingToolError: there is no Go that is new enough.
    """
    if taken := revision.split(folder):
        folder = revision.checked_out(*taken)
    folder, module = go_module(folder)
    go = toolchain.find(toolchain.needed_by(module))
    key = f"{folder.name}-{_digest(folder, module, go.version)}"
    kept = cache_folder() / "subjects" / key
    return cache.kept(kept, lambda draft: _build(folder, go, draft / PROGRAM), what=f"go:{folder}") / PROGRAM


def _digest(folder: Path, module: Path, version: str) -> str:
    """Return what tells one state of the sources from every other, those that go.mod replaces by folders included."""
    digest = hashlib.sha256(f"{version}\0{folder}\0".encode())
    for root in _roots(module):
        for path in _files(root):
            facts = path.stat()
            content = path.read_bytes() if facts.st_size <= READ_BYTES_MAX else str(facts.st_mtime_ns).encode()
            digest.update(f"{path}\0{facts.st_size}\0".encode() + content)
    return digest.hexdigest()[:12]


def _roots(module: Path) -> list[Path]:
    replaced = _LOCAL_REPLACE.findall((module / "go.mod").read_text(encoding="utf-8", errors="replace"))
    return [module, *((module / path).resolve() for path in replaced)]


def _files(root: Path) -> Iterator[Path]:
    for parent, below, names in os.walk(root):
        # The go command passes over these too.
        below[:] = sorted(name for name in below if not name.startswith((".", "_")) and name != "node_modules")
        paths = (Path(parent) / name for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if path.is_file())


def _build(folder: Path, go: toolchain.Toolchain, output: Path) -> None:
    def run_go(*arguments: str, title: str) -> str:
        with progress.bar(title) as shown:
            return run([str(go.program), *arguments], cwd=folder, env=go.environment(), on_line=shown.advance)

    try:
        if run_go("list", "-f", "{{.Name}}", ".", title=f"Reading {folder}").split()[-1:] != ["main"]:
            raise InputError(_no_program(folder, run_go("list", "-f", "{{.Name}} {{.Dir}}", "./...", title="Looking")))
        run_go("build", "-o", str(output), ".", title=f"Building {folder}")
    except CommandError as error:
        said = "\n".join(error.output.strip().splitlines()[-SHOWN_LINES:])
        raise BuildError(f"go:{folder} does not build with Go {go.version} ({go.origin}):\n{said}") from error


def _no_program(folder: Path, listed: str) -> str:
    programs = [line.partition(" ")[2] for line in listed.splitlines() if line.startswith("main ")][:PROGRAMS_SHOWN]
    hint = f"; programs below it: {', '.join(f'go:{one}' for one in programs)}" if programs else ""
    return f"go:{folder}: its package is not main, so there is nothing to run{hint}"
