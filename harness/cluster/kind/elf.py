"""Reads from a Linux program what an image needs to know: for which machine it is, and whether it needs a loader."""

import platform
import struct
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError

_MAGIC = b"\x7fELF"
_CLASS_64, _LITTLE_ENDIAN = 2, 1
_MACHINES = {62: "amd64", 183: "arm64"}
_PT_INTERP = 3
# e_machine, then e_phoff, e_phentsize and e_phnum, where a 64-bit header has them.
_MACHINE = struct.Struct("<18xH")
_TABLE = struct.Struct("<32xQ14xHH")
# p_type, p_offset and p_filesz of a program header.
_SEGMENT = struct.Struct("<IIQ16xQ")
_HEADER_BYTES = 64


@dataclass(frozen=True)
class Elf:
    """A program or library; `loader` is the program that the kernel starts in its place, None for a static one."""

    architecture: str
    loader: str | None


def read(path: Path) -> Elf | None:
    """Return what a file says about itself, None when it is no ELF file at all.

    Raises:
        InputError: it is one, but cut short, or not for a 64-bit machine that is known here.
    """
    with path.open("rb") as stream:
        head = stream.read(_HEADER_BYTES)
        if head[:4] != _MAGIC:
            return None
        if len(head) < _HEADER_BYTES or head[4] != _CLASS_64 or head[5] != _LITTLE_ENDIAN:
            raise InputError(f"{path}: a whole 64-bit little-endian ELF file expected")
        machine = int(_MACHINE.unpack_from(head)[0])
        if machine not in _MACHINES:
            raise InputError(f"{path}: ELF machine {machine} seen, {' or '.join(_MACHINES.values())} expected")
        offset, size, number = _TABLE.unpack_from(head)
        stream.seek(offset)
        table = stream.read(size * number)
        if len(table) < size * number or size < _SEGMENT.size:
            raise InputError(f"{path}: its program headers are cut short; build it anew")
        loader = None
        for place in range(0, len(table), size):
            kind, _, start, length = _SEGMENT.unpack_from(table, place)
            if kind == _PT_INTERP:
                stream.seek(start)
                loader = stream.read(length).rstrip(b"\0").decode(errors="replace")
        return Elf(_MACHINES[machine], loader)


def machine_architecture() -> str:
    """Return the architecture of this machine, as images spell it.

    Raises:
        InputError: it is one that no image is made for.
    """
    names = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    machine = platform.machine().lower()
    if machine not in names:
        raise InputError(f"this machine is a {machine}; images are made for amd64 and arm64 only")
    return names[machine]
