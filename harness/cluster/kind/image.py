"""Assembles container images from files, without Docker and without a registry.

What it writes is a docker-archive, which `kind load image-archive`, `ctr images import` and `docker load` take. The
same files give the same bytes: all times are zero, everything belongs to root, and names are in order.
"""

import hashlib
import io
import json
import re
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from harness.cluster.kind import elf
from harness.errors import InputError

HOST = "harness.local"
"""No such registry exists: an image that was not loaded is never taken from a stranger of the same name."""

_BEGINNING = "1970-01-01T00:00:00Z"
_FOLDER_MODE, _PROGRAM_MODE, _FILE_MODE, _SHARED_MODE = 0o755, 0o755, 0o644, 0o1777
_TAG_DIGITS = 12


@dataclass(frozen=True)
class Image:
    """An image on disk: the name that manifests call it by, and the archive to load."""

    reference: str
    archive: Path


@dataclass(frozen=True)
class Link:
    """A symbolic link inside an image."""

    target: str


Content = Path | bytes | Link
"""What a file of an image is made of; a file on disk keeps its right to be run, bytes are never a program."""


def archive(  # noqa: PLR0913 - what an image is made of
    path: Path,
    reference: str,
    files: Mapping[str, Content],
    *,
    entrypoint: Sequence[str],
    env: Mapping[str, str] | None = None,
    user: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Write an image for this machine's architecture and return its id.

    Args:
        path: where to; a file that is there is replaced, and never half written.
        reference: the image's name and tag.
        files: absolute paths in the image and what stands there. Folders come by themselves, /tmp in any case.
        entrypoint: program and arguments; a pod's `args` come behind them.
        env: variables of the program.
        user: whom it runs as, by number; root unless told.
        labels: labels of the image.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.draft-", delete=False) as draft:
        try:
            layer = _write_layer(draft.file, files)
            config = _json(
                {
                    "architecture": elf.machine_architecture(),
                    "os": "linux",
                    "created": _BEGINNING,
                    "config": _config(entrypoint, env or {}, user, labels or {}),
                    "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
                    "history": [{"created": _BEGINNING, "created_by": "scheduler-harness"}],
                }
            )
            image = hashlib.sha256(config).hexdigest()
            described = [{"Config": f"{image}.json", "RepoTags": [reference], "Layers": [_layer_name(layer)]}]
            with tarfile.open(fileobj=draft, mode="w") as outer:
                _add(outer, f"{image}.json", config)
                _add(outer, "manifest.json", _json(described))
        except BaseException:
            Path(draft.name).unlink()
            raise
    Path(draft.name).replace(path)
    path.chmod(_FILE_MODE)
    return f"sha256:{image}"


def program_image(program: Path, folder: Path) -> Image:
    """Return the image of one static program, assembled in `folder` unless it is there.

    Raises:
        InputError: it is no static program for this machine.
    """
    _check_static(program)
    with program.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()[:_TAG_DIGITS]
    image = Image(f"{HOST}/{repository_name(program.stem)}:{digest}", folder / f"{program.name}-{digest}.tar")
    if not image.archive.exists():
        inside = f"/{program.name}"
        archive(image.archive, image.reference, {inside: program}, entrypoint=[inside])
    return image


def repository_name(text: str) -> str:
    """Return a word as the name of an image's repository: small letters and digits, joined by single signs."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "program"


def _check_static(program: Path) -> None:
    try:
        found = elf.read(program)
    except OSError as error:
        raise InputError(f"{program}: {error.strerror}; the file of a Linux program expected") from error
    here = elf.machine_architecture()
    if found is None:
        raise InputError(f"{program}: no Linux program (ELF); build it with GOOS=linux GOARCH={here} CGO_ENABLED=0")
    if found.architecture != here:
        raise InputError(f"{program}: built for {found.architecture}, {here} expected; build it with GOARCH={here}")
    if found.loader:
        raise InputError(
            f"{program}: dynamically linked: it needs {found.loader} and libraries, which an image of one program does "
            "not have; build it with CGO_ENABLED=0, or bring an image of your own"
        )


def _config(
    entrypoint: Sequence[str], env: Mapping[str, str], user: str | None, labels: Mapping[str, str]
) -> dict[str, object]:
    config: dict[str, object] = {
        "Entrypoint": list(entrypoint),
        "Env": [f"{name}={value}" for name, value in sorted(env.items())],
        "WorkingDir": "/",
        "Labels": dict(sorted(labels.items())),
    }
    return {**config, "User": user} if user else config


def _write_layer(stream: IO[bytes], files: Mapping[str, Content]) -> str:
    """Write the layer as the archive's first member and return its digest.

    Its header tells what is known only at the end, so it is written last: the layer is never on disk twice.
    """
    stream.write(bytes(tarfile.BLOCKSIZE))
    hashed = _Hashed(stream)
    with tarfile.open(fileobj=hashed, mode="w|") as inner:
        for name, content in _entries(files):
            _add(inner, name, content)
    end = stream.tell()
    head = tarfile.TarInfo(_layer_name(digest := hashed.digest.hexdigest()))
    head.size, head.mode = end - tarfile.BLOCKSIZE, _FILE_MODE
    stream.seek(0)
    stream.write(head.tobuf(tarfile.USTAR_FORMAT))
    stream.seek(end)
    return digest


class _Hashed(io.RawIOBase):
    """Passes bytes on and digests them on their way."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.digest.update(data)
        return self._stream.write(data)


def _layer_name(digest: str) -> str:
    return f"{digest}/layer.tar"


def _entries(files: Mapping[str, Content]) -> list[tuple[str, Content | None]]:
    """Return everything of a layer in order; a folder has no content and stands before what is in it."""
    found: dict[str, Content | None] = {"tmp": None}
    for name, content in files.items():
        inside = PurePosixPath(name)
        if not inside.is_absolute() or ".." in inside.parts:
            raise InputError(f"{name}: an absolute path inside the image expected")
        relative = inside.relative_to("/")
        found.update((str(folder), None) for folder in relative.parents if folder.name and str(folder) not in found)
        found[str(relative)] = content
    return sorted(found.items())


def _add(tar: tarfile.TarFile, name: str, content: Content | None) -> None:
    info = tarfile.TarInfo(name)
    match content:
        case None:
            info.type = tarfile.DIRTYPE
            info.mode = _SHARED_MODE if name == "tmp" else _FOLDER_MODE
            tar.addfile(info)
        case Link(target):
            info.type, info.linkname, info.mode = tarfile.SYMTYPE, target, 0o777
            tar.addfile(info)
        case bytes():
            info.size, info.mode = len(content), _FILE_MODE
            tar.addfile(info, io.BytesIO(content))
        case Path():
            with content.open("rb") as stream:
                status = content.stat()
                info.size = status.st_size
                info.mode = _PROGRAM_MODE if status.st_mode & 0o111 else _FILE_MODE
                tar.addfile(info, stream)


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
