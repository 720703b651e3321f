import hashlib
import io
import json
import os
import shutil
import struct
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.kind import elf
from harness.cluster.kind.image import Content, Link, archive, program_image, repository_name
from harness.errors import InputError


def static_program(path: Path, *, machine: int | None = None, loader: str | None = None) -> Path:
    """Write the head of an ELF file; nothing more of a program matters to an image."""
    machine = machine or {"amd64": 62, "arm64": 183}[elf.machine_architecture()]
    text = (loader or "").encode() + b"\0"
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 176, 176, 4096)
    segments += struct.pack("<IIQQQQQQ", 3 if loader else 4, 4, 176, 0, 0, len(text), len(text), 1)
    path.write_bytes(head + segments + text)
    path.chmod(0o755)
    return path


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any], tarfile.TarFile]:
    """Return the manifest, the configuration and the layer of an archive, with every digest checked."""
    with tarfile.open(path) as outer:
        parts = {one.name: (outer.extractfile(one) or io.BytesIO()).read() for one in outer.getmembers()}
    manifest = json.loads(parts["manifest.json"])[0]
    config = parts[manifest["Config"]]
    assert manifest["Config"] == f"{hashlib.sha256(config).hexdigest()}.json"
    layers = [parts[name] for name in manifest["Layers"]]
    described = json.loads(config)
    assert described["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
    assert set(parts) == {"manifest.json", manifest["Config"], *manifest["Layers"]}
    return manifest, described, tarfile.open(fileobj=io.BytesIO(layers[0]))


def test_an_archive_is_what_engines_take(tmp_path: Path) -> None:
    program = tmp_path / "run"
    program.write_bytes(b"#!" * 2_000_000)
    program.chmod(0o750)
    plain = tmp_path / "plain"
    plain.write_bytes(b"x")
    plain.chmod(0o600)
    files: dict[str, Content] = {"/b/c/run": program, "/a": b"bytes", "/b/plain": plain, "/b/link": Link("/b/c/run")}
    image = archive(
        tmp_path / "new" / "image.tar",
        "harness.local/x:1",
        files,
        entrypoint=["/b/c/run", "go"],
        env={"Z": "1", "A": "2"},
        user="65534",
        labels={"l": "v"},
    )
    manifest, described, layer = read(tmp_path / "new" / "image.tar")
    assert manifest["RepoTags"] == ["harness.local/x:1"]
    assert image == "sha256:" + manifest["Config"].removesuffix(".json")
    assert (described["os"], described["architecture"]) == ("linux", elf.machine_architecture())
    assert described["config"] == {
        "Entrypoint": ["/b/c/run", "go"],
        "Env": ["A=2", "Z=1"],
        "WorkingDir": "/",
        "Labels": {"l": "v"},
        "User": "65534",
    }
    seen = {one.name: (one.mode, one.size) for one in layer.getmembers()}
    assert list(seen) == ["a", "b", "b/c", "b/c/run", "b/link", "b/plain", "tmp"]
    assert seen["b/c/run"] == (0o755, 4_000_000)
    assert (seen["b/plain"][0], seen["tmp"][0], seen["b"][0]) == (0o644, 0o1777, 0o755)
    assert layer.getmember("b/link").linkname == "/b/c/run"
    assert {(one.mtime, one.uid, one.gid, one.uname) for one in layer.getmembers()} == {(0, 0, 0, "")}


def test_the_same_files_give_the_same_bytes_whenever_and_whoever(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"1" * 1000)
    deep = "/" + "long-folder-name/" * 12 + "file"
    made: list[str] = []
    for name, order in (("one", ("/a", deep)), ("two", (deep, "/a"))):
        os.utime(source, (1, len(made)))
        made.append(archive(tmp_path / name, "x:1", dict.fromkeys(order, source), entrypoint=["/a"]))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert made[0] == made[1]
    assert deep[1:] in read(tmp_path / "one")[2].getnames()
    source.write_bytes(b"2" * 1000)
    assert archive(tmp_path / "three", "x:1", {"/a": source}, entrypoint=["/a"]) != made[0]


def test_an_archive_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    for files in ({"/a": tmp_path / "absent"}, {"relative": b""}, {"/a/../b": b""}):
        with pytest.raises((OSError, InputError)):
            archive(tmp_path / "image.tar", "x:1", files, entrypoint=["/a"])
    assert list(tmp_path.iterdir()) == []


def test_the_image_of_a_program(tmp_path: Path) -> None:
    program = static_program(tmp_path / "My_Scheduler.bin")
    image = program_image(program, tmp_path / "images")
    digest = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
    assert image.reference == f"harness.local/my-scheduler:{digest}"
    manifest, described, layer = read(image.archive)
    assert manifest["RepoTags"] == [image.reference]
    assert described["config"]["Entrypoint"] == ["/My_Scheduler.bin"]
    assert layer.getmember("My_Scheduler.bin").mode == 0o755
    before = image.archive.stat().st_mtime_ns
    assert program_image(program, tmp_path / "images") == image
    assert image.archive.stat().st_mtime_ns == before
    program.write_bytes(program.read_bytes() + b"changed")
    assert program_image(program, tmp_path / "images") != image


def test_a_program_that_needs_a_loader_is_refused(tmp_path: Path) -> None:
    program = static_program(tmp_path / "linked", loader="/lib64/ld-linux.so.2")
    with pytest.raises(
        InputError, match=r"linked: dynamically linked: it needs /lib64/ld-linux\.so\.2 .*CGO_ENABLED=0"
    ):
        program_image(program, tmp_path)


def test_a_program_of_another_kind_is_refused(tmp_path: Path) -> None:
    here = elf.machine_architecture()
    other = "arm64" if here == "amd64" else "amd64"
    foreign = static_program(tmp_path / "foreign", machine={"amd64": 62, "arm64": 183}[other])
    with pytest.raises(InputError, match=f"foreign: built for {other}, {here} expected; build it with GOARCH={here}"):
        program_image(foreign, tmp_path)
    with pytest.raises(InputError, match="odd: ELF machine 8 seen, amd64 or arm64 expected"):
        program_image(static_program(tmp_path / "odd", machine=8), tmp_path)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(InputError, match=f"script: no Linux program .* GOOS=linux GOARCH={here} CGO_ENABLED=0"):
        program_image(script, tmp_path)
    script.write_bytes(b"\x7fELF\x02\x01")
    with pytest.raises(InputError, match="a whole 64-bit little-endian ELF file"):
        program_image(script, tmp_path)
    with pytest.raises(InputError, match="absent: No such file"):
        program_image(tmp_path / "absent", tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="programs here are not ELF files")
def test_a_real_programs_head_is_read() -> None:
    shell = Path(shutil.which("sh") or "/bin/sh").resolve()
    found = elf.read(shell)
    assert found is not None
    assert found.architecture == elf.machine_architecture()
    if found.loader:
        assert Path(found.loader).exists()


@pytest.mark.parametrize(
    ("text", "name"), [("a.b", "a-b"), ("__", "program"), ("X--y", "x-y"), ("harness.c", "harness-c")]
)
def test_any_word_makes_a_repository_name(text: str, name: str) -> None:
    assert repository_name(text) == name
