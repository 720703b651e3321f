import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cluster import kubeconfig


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return kubeconfig.write(
        tmp_path / "admin.kubeconfig",
        server="https://127.0.0.1:20000",
        authority=tmp_path / "ca.crt",
        certificate=tmp_path / "admin.crt",
        key=tmp_path / "admin.key",
    )


@pytest.fixture
def generous() -> Iterator[None]:
    """Whatever is made without saying for whom, everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("generous")
def test_a_token_is_for_its_owners_eyes_only(source: Path, tmp_path: Path) -> None:
    path = kubeconfig.with_token(source, tmp_path / "mine.kubeconfig", "secret")
    assert path == tmp_path / "mine.kubeconfig"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_token_is_all_that_its_user_has(source: Path, tmp_path: Path) -> None:
    document = read(kubeconfig.with_token(source, tmp_path / "mine.kubeconfig", "secret"))
    assert document["users"] == [{"name": "harness", "user": {"token": "secret"}}]


def test_the_cluster_stays_the_same_and_so_does_the_other_file(source: Path, tmp_path: Path) -> None:
    before = source.read_text()
    document, original = read(kubeconfig.with_token(source, tmp_path / "mine.kubeconfig", "secret")), read(source)
    for same in ("apiVersion", "kind", "clusters", "contexts", "current-context"):
        assert document[same] == original[same]
    assert source.read_text() == before


def test_another_token_takes_the_place_of_a_longer_one(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.kubeconfig"
    kubeconfig.with_token(source, path, "long" * 100)
    assert read(kubeconfig.with_token(source, path, "short"))["users"][0]["user"] == {"token": "short"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
