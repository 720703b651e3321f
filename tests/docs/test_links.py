"""Fails on links that lead nowhere, on targets and files that do not exist, and on paths of somebody's machine."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Page, pages


@pytest.mark.parametrize("page", pages(), ids=str)
def test_links_lead_somewhere(page: Page) -> None:
    for link in page.links():
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.path.parent / file).resolve() if file else page.path
        assert target.exists(), f"{page}: {link}: no such file"
        if anchor:
            assert anchor in Page(target).anchors(), f"{page}: {link}: no such heading"


@pytest.mark.parametrize("page", pages(), ids=str)
def test_make_targets_exist(page: Page) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:`|^\$ |^- run: |^)make ([a-z]+)", page.text, re.MULTILINE))
    assert named <= targets, f"{page}: the Makefile has no {named - targets}"


@pytest.mark.parametrize("page", pages(), ids=str)
def test_no_path_of_a_machine(page: Page) -> None:
    assert not re.findall(r"/(?:root|work|Users)/\S*", page.text)


@pytest.mark.parametrize("path", sorted((ROOT / "changelog.d").iterdir()), ids=lambda path: path.name)
def test_changelog_fragments(path: Path) -> None:
    assert re.fullmatch(r"README\.md|[a-z0-9-]+\.(feature|fix|breaking)\.md", path.name)
    assert path.read_text(encoding="utf-8").strip()
