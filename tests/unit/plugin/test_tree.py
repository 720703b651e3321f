from pathlib import Path, PurePosixPath

from harness.plugin.tree import plant


def test_only_the_way_to_what_is_changed_is_new(tmp_path: Path) -> None:
    original = tmp_path / "original"
    for name in ("go.mod", "go.work", "cmd/main.go", "pkg/a/one.go", "pkg/a/two.go", "pkg/b/three.go"):
        path = original / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    mine = tmp_path / "mine.go"
    mine.write_text("changed")
    into = tmp_path / "planted"
    plant(original, {PurePosixPath("pkg/a/one.go"): mine, PurePosixPath("pkg/new/extra.go"): mine}, into)

    assert (into / "pkg/a/one.go").read_text() == "changed"
    assert (into / "pkg/a/two.go").read_text() == "pkg/a/two.go"
    assert (into / "pkg/new/extra.go").read_text() == "changed"
    assert (into / "pkg/b").is_symlink()
    assert (into / "cmd/main.go").read_text() == "cmd/main.go"
    assert not (into / "pkg/a").is_symlink()
    assert not (into / "go.work").exists()
    assert (original / "pkg/a/one.go").read_text() == "pkg/a/one.go"
