"""Makes an image that runs a module of this harness: this interpreter, and of everything around it what is needed.

In the image, /opt/python has the interpreter and its standard library, /opt/site the packages, /opt/lib the shared
libraries. Nothing is downloaded: what runs in the image is what runs here.
"""

import hashlib
import importlib.metadata
import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.cache import kept
from harness.cluster.kind import elf
from harness.cluster.kind.compiled import compiled
from harness.cluster.kind.image import HOST, Content, Image, Link, archive, repository_name
from harness.cluster.kind.libraries import libraries
from harness.errors import InputError
from harness.paths import PACKAGE, cache_folder
from harness.process import run

_FORMAT = 1
_HOME, _SITE, _LIB = "/opt/python", "/opt/site", "/opt/lib"
_PROGRAM = f"{_HOME}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
_ARCHIVE = "image.tar"
_TAG_DIGITS = 12
_KEPT_MAX = 3
_NEVER = {"__pycache__", "site-packages", "dist-packages"}
_NOT_RUN = {"ensurepip", "idlelib", "lib2to3", "test", "tests", "tkinter", "turtledemo"}
_NOT_LOADED = ("_ctypes_test", "_test", "_tkinter", "xx")
# A part of a package that nothing imports is left out only if that is worth it: some parts are imported late.
_UNTOUCHED_MAX_BYTES = 1_000_000
_PASSWD = b"root:x:0:0:root:/tmp:/\nnobody:x:65534:65534:nobody:/tmp:/\n"
_ENV = {
    "PYTHONHOME": _HOME,
    "PYTHONPATH": _SITE,
    "LD_LIBRARY_PATH": _LIB,
    "HOME": "/tmp",  # noqa: S108 - the one folder of an image that everybody may write to
    "PATH": f"{_HOME}/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True)
class _Closure:
    """What a module imports: files that were loaded, where packages lie, folders that tell their versions."""

    sources: tuple[Path, ...]
    packages: tuple[Path, ...]
    metadata: tuple[Path, ...]


def python_image(module: str, *, also: Sequence[str] = ()) -> Image:
    """Return an image whose program is `python -m MODULE`, made now unless it was made before.

    Args:
        module: a module or package of the harness.
        also: further modules that it needs without anything showing it.

    Raises:
        InputError: this machine's programs do not run in containers.
        CommandError: the module cannot be imported; has what Python said.
    """
    if sys.platform != "linux":
        raise InputError(f"an image of this interpreter would need Linux, this is {sys.platform}; bring an image")
    name = repository_name(module)
    tag = _key(module, also)
    reference = f"{HOST}/{name}:{tag}"

    def make(draft: Path) -> None:
        found = _closure(module, also, draft)
        archive(draft / _ARCHIVE, reference, _files(found), entrypoint=[_PROGRAM, "-m", module], env=_ENV, labels={})

    folder = kept(cache_folder() / "images" / f"{name}-{tag}", make, what=f"the image of {module}")
    _forget_older(folder, name)
    return Image(reference, folder / _ARCHIVE)


def _key(module: str, also: Sequence[str]) -> str:
    """Return a digest of everything that the image depends on, without looking for it."""
    installed = sorted({f"{one.name} {one.version}" for one in importlib.metadata.distributions()})
    told = [_FORMAT, module, list(also), sys.version, sys.base_prefix, elf.machine_architecture(), installed]
    digest = hashlib.sha256(json.dumps(told).encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"\0{path.relative_to(PACKAGE)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:_TAG_DIGITS]


def _forget_older(folder: Path, name: str) -> None:
    """Keep the images that were used last: each change of the harness makes another."""
    os.utime(folder)
    made = [one for one in folder.parent.glob(f"{name}-*") if one.is_dir() and (one / _ARCHIVE).exists()]
    for old in sorted(made, key=lambda one: one.stat().st_mtime, reverse=True)[_KEPT_MAX:]:
        shutil.rmtree(old, ignore_errors=True)


def _closure(module: str, also: Sequence[str], draft: Path) -> _Closure:
    with tempfile.NamedTemporaryFile(dir=draft) as out:
        # -P: a file of the user's that is called like a package must not stand for it.
        command = [sys.executable, "-P", "-m", "harness.cluster.kind.closure", module, out.name, *also]
        run(command, env={"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *_python_path()])})
        found: Mapping[str, list[str]] = json.loads(Path(out.name).read_text(encoding="utf-8"))
    return _Closure(*(tuple(map(Path, found[key])) for key in ("sources", "packages", "metadata")))


def _python_path() -> list[str]:
    return [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]


def _files(found: _Closure) -> dict[str, Content]:
    interpreter = Path(sys.executable).resolve()
    files: dict[str, Content] = {_PROGRAM: interpreter, f"{_HOME}/bin/python": Link(_PROGRAM), "/etc/passwd": _PASSWD}
    files.update(_standard_library())
    files.update(_below(PACKAGE, _SITE, leave_out=lambda folder: folder.name == "shipped"))
    touched = {folder for source in found.sources for folder in source.parents}
    for place in found.packages:
        files.update(_below(place, _SITE, leave_out=lambda folder: _is_dead_weight(folder, touched)))
    for place in found.metadata:
        files.update(_below(place, _SITE))
    inside = {path: name for name, path in files.items() if isinstance(path, Path)}
    for source in found.sources:
        if source.suffix == ".py" and source in inside:
            name, content = compiled(source)
            files[str(PurePosixPath(inside[source]).parent / name)] = content
    files.update(_libraries(interpreter, list(inside), [place.parent for place in found.packages]))
    return files


def _standard_library() -> dict[str, Content]:
    standard = Path(sysconfig.get_path("stdlib"))
    home = f"{_HOME}/{standard.parent.relative_to(sys.base_prefix)}"
    files = _below(
        standard, home, leave_out=lambda folder: folder.name in _NOT_RUN or folder.name.startswith("config-")
    )
    return {name: content for name, content in files.items() if not PurePosixPath(name).name.startswith(_NOT_LOADED)}


def _libraries(interpreter: Path, loaded: Sequence[Path], sites: Sequence[Path]) -> dict[str, Content]:
    """Return the libraries; one that a package brought along stays where the package looks for it."""
    files: dict[str, Content] = {}
    modules = [path for path in loaded if ".so" in path.suffixes]
    for name, path in libraries(interpreter, modules).items():
        site = next((site for site in sites if path.is_relative_to(site)), None)
        if site:
            files[f"{_SITE}/{path.relative_to(site)}"] = path
        else:
            files[name if name.startswith("/") else f"{_LIB}/{name}"] = path
    return files


def _below(place: Path, home: str, leave_out: Callable[[Path], bool] = lambda _: False) -> dict[str, Content]:
    """Return a file, or all files of a folder, under another home; what Python compiled is never among them."""
    if place.is_file():
        return {f"{home}/{place.name}": place}
    files: dict[str, Content] = {}
    for folder, below, names in os.walk(place, followlinks=True):
        here = Path(folder)
        below[:] = [name for name in below if name not in _NEVER and not leave_out(here / name)]
        for path in (here / name for name in names):
            if path.is_file():
                files[f"{home}/{path.relative_to(place.parent)}"] = path
    return files


def _is_dead_weight(folder: Path, touched: Collection[Path]) -> bool:
    if folder in touched:
        return False
    return sum(path.stat().st_size for path in folder.rglob("*.py") if path.is_file()) > _UNTOUCHED_MAX_BYTES
