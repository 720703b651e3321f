"""The image is unpacked and its interpreter run from there, with its own loader: no container engine is needed."""

import io
import json
import os
import py_compile
import re
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from harness import process
from harness.cluster.kind import closure, elf, python_image
from harness.cluster.kind.compiled import compiled
from harness.cluster.kind.image import Image
from harness.errors import CommandError, InputError

IMPORTED = "import one; print(one.VALUE)"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="images are made of Linux programs")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return python_image.python_image("harness.controller")


@pytest.fixture(scope="module")
def config(image: Image) -> dict[str, Any]:
    with tarfile.open(image.archive) as outer:
        name = next(one for one in outer.getnames() if one.endswith(".json") and one != "manifest.json")
        found: dict[str, Any] = json.load(outer.extractfile(name) or io.BytesIO())["config"]
    return found


@pytest.fixture(scope="module")
def root(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the image."""
    into = tmp_path_factory.mktemp("root")
    with tarfile.open(image.archive) as outer:
        layer = next(one for one in outer.getmembers() if one.name.endswith("layer.tar"))
        with tarfile.open(fileobj=outer.extractfile(layer)) as inner:
            inner.extractall(into, filter="tar")
    return into


def inside(root: Path, config: dict[str, Any], *arguments: str) -> str:
    """Run the image's program as a container would, with nothing of this machine but the kernel."""
    variables = dict(one.split("=", 1) for one in config["Env"])
    told = {name: f"{root}{value}" if value.startswith("/") else value for name, value in variables.items()}
    program = f"{root}{config['Entrypoint'][0]}"
    head = elf.read(Path(program))
    loader = [f"{root}{head.loader}"] if head and head.loader else []
    cleared = [word for name in os.environ if name.startswith(("PYTHON", "LD_")) for word in ("-u", name)]
    variables_given = [f"{name}={value}" for name, value in told.items()]
    return process.run(["env", *cleared, *variables_given, *loader, program, *arguments], cwd=root)


def test_the_image_runs_its_module(root: Path, config: dict[str, Any]) -> None:
    assert config["Entrypoint"][1:] == ["-m", "harness.controller"]
    said = inside(root, config, *config["Entrypoint"][1:], "--help")
    assert "usage: python -m harness.controller" in said


def test_everything_that_is_loaded_comes_from_the_image(root: Path, config: dict[str, Any]) -> None:
    script = (
        "import json, sys, ssl, ctypes, zoneinfo, harness.controller.__main__; from kubernetes import client, config;"
        "client.ApiClient(client.Configuration());"
        "maps = [line.split()[-1] for line in open('/proc/self/maps') if '.so' in line];"
        "files = [one.__file__ for one in list(sys.modules.values()) if getattr(one, '__file__', None)];"
        "print(json.dumps([files, maps, sys.prefix]))"
    )
    files, maps, prefix = json.loads(inside(root, config, "-c", script))
    assert prefix == f"{root}/opt/python"
    assert len(files) > 100
    assert [one for one in (*files, *maps) if not one.startswith(str(root))] == []


def test_nothing_is_compiled_at_the_start(root: Path, config: dict[str, Any]) -> None:
    said = inside(root, config, "-v", "-m", "harness.controller", "--help")
    loaded = re.findall(r"code object from '?(\S+\.pyc?)\b", said)
    assert f"{root}/opt/site/harness/controller/__main__.py" not in loaded
    assert [one for one in loaded if one.endswith(".py")] == []
    assert len(loaded) > 100


def test_what_no_module_needs_is_left_out(root: Path) -> None:
    names = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    standard = next(name for name in names if name.endswith(f"{version}/json")).removesuffix("/json")
    for absent in ("test", "idlelib", "tkinter", "ensurepip", "site-packages"):
        assert f"{standard}/{absent}" not in names
    for absent in ("pandas", "locust", "pytest", "kubernetes/aio", "harness/shipped"):
        assert f"opt/site/{absent}" not in names
    for present in ("kubernetes/client", "orjson", "yaml", "harness/controller/__main__.py", "harness/kube.py"):
        assert f"opt/site/{present}" in names
    assert not any(name.endswith(".pth") for name in names)


def test_an_image_is_made_once_and_anew_for_other_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    package = tmp_path / "harness"
    (package / "part").mkdir(parents=True)
    (package / "part" / "one.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(python_image, "PACKAGE", package)
    made: list[str] = []

    def make(path: Path, reference: str, *_: object, **__: object) -> None:
        made.append(reference)
        path.touch()

    monkeypatch.setattr(python_image, "archive", make)
    monkeypatch.setattr(python_image, "_closure", lambda *_: None)
    monkeypatch.setattr(python_image, "_files", lambda _: {})
    first = python_image.python_image("harness.part")
    assert python_image.python_image("harness.part") == first
    assert made == [first.reference]
    python_image.python_image("harness.part", also=["csv"])
    python_image.python_image("harness.other")
    (package / "part" / "one.py").write_text("VALUE = 2\n")
    python_image.python_image("harness.part")
    assert len(set(made)) == len(made) == 4


def test_only_the_images_used_last_are_kept(tmp_path: Path) -> None:
    for age, name in enumerate(("x-1", "x-2", "x-3", "x-4", "other-1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "image.tar").touch()
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    python_image._forget_older(tmp_path / "x-4", "x")
    assert {path.name for path in tmp_path.iterdir()} == {"x-1", "x-2", "x-4", "other-1"}


def test_a_module_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(CommandError, match=r"No module named 'harness\.nothing'"):
        python_image.python_image("harness.nothing")
    assert [path.name for path in (tmp_path / "images").iterdir() if path.is_dir()] == []


def test_another_system_is_told_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(InputError, match="would need Linux, this is darwin"):
        python_image.python_image("harness.controller")


def test_imports_are_found_wherever_they_stand() -> None:
    source = """
import a, b.c
if TYPE_CHECKING:
    import never
else:
    import otherwise
def f():
    from d import e
    try:
        import g as h
    except ImportError:
        pass
"""
    assert set(closure.imports(source)) == {"a", "b.c", "otherwise", "d", "d.e", "g"}


def test_a_compiled_module_is_of_its_source_and_never_checked(tmp_path: Path) -> None:
    source, at = tmp_path / "one.py", tmp_path / "at"
    at.mkdir()
    (at / "one.py").write_text("VALUE = 0\n")
    for value in (1, 2):
        source.write_text(f"VALUE = {value}\n")
        os.utime(source, (value, value))
        name, content = compiled(source)
        (at / name).parent.mkdir(exist_ok=True)
        (at / name).write_bytes(content)
        assert process.run([sys.executable, "-P", "-c", IMPORTED], env={"PYTHONPATH": str(at)}) == f"{value}\n"
        # What Python keeps beside the source serves this one, and must not serve the next.
        kept = py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
        assert compiled(source)[1][16:] == Path(str(kept)).read_bytes()[16:]
