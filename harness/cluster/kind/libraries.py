"""Finds the shared libraries that programs and extension modules need, as the loader of this machine finds them."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.cluster.kind import elf
from harness.errors import CommandError, InputError, MissingToolError
from harness.process import run

# `	libm.so.6 => /lib/libm.so.6 (0x…)`; the loader itself and what the kernel brings have no arrow.
_FOUND = re.compile(r"^\s+(?P<name>\S+) => (?P<path>/\S+) \(0x", re.MULTILINE)
# Loaded by libc when first needed, so that no file says so.
_LOADED_LATE = ("libgcc_s.so.1", "libnss_dns.so.2", "libnss_files.so.2")
_LIBC = "libc.so.6"


def libraries(program: Path, others: Sequence[Path]) -> dict[str, Path]:
    """Return the libraries of a program and of what it loads, by the names they are asked for.

    The program's loader is among them, by its absolute path. A static program needs nothing.

    Raises:
        InputError: the program is none of this machine.
        MissingToolError: there is no ldd.
    """
    head = elf.read(program)
    if head is None:
        raise InputError(f"{program}: no Linux program (ELF)")
    if head.loader is None:
        return {}
    found: dict[str, Path] = {}
    for name, path in _asked([program, *others], one_by_one="musl" in head.loader):
        # The program's own come first: there is one library of a name in a process.
        found.setdefault(name, path)
    if _LIBC in found:
        beside = (found[_LIBC].parent / name for name in _LOADED_LATE)
        found.update({path.name: path for path in beside if path.is_file() and path.name not in found})
    return {**found, head.loader: Path(head.loader)}


def _asked(files: Sequence[Path], *, one_by_one: bool) -> Iterator[tuple[str, Path]]:
    ldd = shutil.which("ldd")
    if ldd is None:
        raise MissingToolError('finding the libraries of this interpreter needs "ldd" on PATH; install it (libc-bin)')
    for group in [[file] for file in files] if one_by_one else [files]:
        try:
            said = run([ldd, *map(str, group)])
        except CommandError as error:
            # It fails when any of the files is no dynamic one, and tells about the others all the same.
            said = error.output
        # Packages that bring libraries along look for them beside themselves: a/../b.
        yield from ((one["name"], Path(os.path.normpath(one["path"]))) for one in _FOUND.finditer(said))
