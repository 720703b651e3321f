"""Tells whether what a subject names is there, as far as that can be seen without building or starting anything."""

import importlib.util
import os
import pkgutil
import shutil
import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from harness.errors import InputError
from harness.extender.references import REFERENCES
from harness.extender.subject import revision
from harness.extender.subject.answering import HOST
from harness.extender.subject.parse import PORT_MARK, Subject
from harness.scenario.words import did_you_mean

_NO_VARIABLES: Mapping[str, str] = {}


def check_there(subject: Subject) -> None:
    """Refuse a subject that could not even be started.

    Raises:
        InputError: the program, the folder or the Python module that it names is not there, or a reference does not
            know one of its options.
    """
    match subject.kind:
        case "cmd":
            found_program(subject.text, subject.arguments[0], subject.folder, subject.env)
        case "go":
            check_go(subject.folder / subject.target)
        case "py":
            _check_module(subject)
        case "ref":
            from harness.extender.serving.target import check_options  # noqa: PLC0415 - loads the references

            check_options(subject.text, REFERENCES[subject.target].make, subject.options)


def without_containers(subject: Subject) -> str:
    """Say what to bring instead of an image to a cluster that runs none."""
    return (
        f"{subject.text}: this cluster plays its nodes and runs no containers. Run the image yourself, as in "
        f"cmd:docker run --rm -p {HOST}:{PORT_MARK}:8888 {subject.target}, or name its address (http://…), "
        "its sources (go:FOLDER) or its program (cmd:COMMAND)"
    )


def found_program(text: str, program: str, folder: Path = Path(), env: Mapping[str, str] = _NO_VARIABLES) -> str:
    """Return the program of a command as it will be started; looked for while there is a place to complain about.

    Raises:
        InputError: there is none that may be executed.
    """
    folder = folder.resolve()
    path = {**os.environ, **env}.get("PATH", os.defpath)
    found = shutil.which(str(folder / program) if os.sep in program else program, path=path)
    if found is None:
        where = f"in {folder}" if os.sep in program else "on PATH"
        raise InputError(f"{text}: no program {program!r} {where} that may be executed")
    return found


def check_go(folder: Path) -> None:
    """Refuse what is no folder with a Go module; what a revision has in it shows when it is taken.

    Raises:
        InputError: there is no such folder, or no go.mod there or above.
    """
    if revision.split(folder) is None:
        go_module(folder)


def go_module(folder: Path) -> tuple[Path, Path]:
    """Return a folder of Go sources, resolved, and that of its go.mod.

    Raises:
        InputError: there is no such folder, or no go.mod there or above.
    """
    if not folder.is_dir():
        raise InputError(f"go:{folder}: no such folder; name the folder of the program's main package")
    folder = folder.resolve()
    module = next((one for one in (folder, *folder.parents) if (one / "go.mod").is_file()), None)
    if module is None:
        raise InputError(f"go:{folder}: no go.mod there or above; make one with: go mod init NAME && go mod tidy")
    return folder, module


def _check_module(subject: Subject) -> None:
    """Look for the module where its process will; nothing of it is imported, that could take long or do harm."""
    folder = subject.folder.resolve()
    variables = {**os.environ, **subject.env}.get("PYTHONPATH", "")
    places = [str(folder), *filter(None, variables.split(os.pathsep)), *sys.path]
    first, *rest = subject.target.partition(":")[0].split(".")
    # A package that was installed to be edited may have a finder of its own, which knows no folders.
    found = _spec(first, places) or _known_otherwise(first)
    name = first
    for part in rest:
        # What a module that is no package has below it, or a package that looks elsewhere, only importing it tells.
        if found is None or not found.submodule_search_locations:
            break
        below = list(found.submodule_search_locations)
        name, known = f"{name}.{part}", _modules(below)
        found = _spec(name, below)
        if found is None:
            raise InputError(_no_module(subject, name, f"in {below[0]}", part, known))
    if found is None:
        where = f"in {folder} or where Python always looks"
        raise InputError(_no_module(subject, first, where, first, _modules([str(folder)])))


def _spec(name: str, places: list[str]) -> ModuleSpec | None:
    try:
        return PathFinder.find_spec(name, places)
    except KeyError:
        # A package without __init__.py inside of another: Python looks into that one, which is not imported.
        return ModuleSpec(name, None)


def _known_otherwise(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ValueError:
        return None


def _modules(places: list[str]) -> list[str]:
    return [one.name for one in pkgutil.iter_modules(places)]


def _no_module(subject: Subject, name: str, where: str, part: str, known: list[str]) -> str:
    near = did_you_mean(part, known).rstrip(";")
    return f"{subject.text}: no module {name!r} {where}{near or '; correct the name, or run the command in its folder'}"
