from pathlib import Path

import pytest

from harness.errors import InputError
from harness.plugin.source import PluginSource
from tests.unit.plugin.given import plugin


def test_a_folder_is_a_plugin(tmp_path: Path) -> None:
    folder = plugin(tmp_path / "colors")
    (folder / "colors_test.go").write_text("package colors_test\n\nfunc Tested() {}\n")
    found = PluginSource.parse(f"go:{folder}")
    assert (found.folder, found.package, found.constructor, found.module) == (folder, "colors", "New", None)
    assert found.root == folder
    assert found.name == "Name"


@pytest.mark.parametrize("target", ["Other", "colors.Other"])
def test_another_constructor_can_be_named(tmp_path: Path, target: str) -> None:
    folder = plugin(tmp_path / "some:where")
    assert PluginSource.parse(f"go:{folder}:{target}").constructor == "Other"
    assert PluginSource.parse(f"go:{folder}").constructor == "New"


def test_a_package_below_belongs_to_the_module_above(tmp_path: Path) -> None:
    folder = plugin(tmp_path / "pkg" / "colors")
    (tmp_path / "go.mod").write_text("module example.com/me\n")
    for text in (f"go:{tmp_path}:pkg/colors.New", f"go:{folder}"):
        found = PluginSource.parse(text)
        assert (found.folder, found.module, found.root) == (folder, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ('const Name = "Colors"', "Name"),
        ('var Name string = "Colors"', "Name"),
        ('const (\n\tother = 1\n\n\t// Name of it.\n\tName = "Colors"\n)', "Name"),
        ('const (\n    other = 1\n    Name = "Colors"\n)', "Name"),
        ("const NameLength = 3", '"colors"'),
        ('// const Name = "Colors"', '"colors"'),
        ('func f() {\n\tconst Name = "x"\n}', '"colors"'),
        ("const (\n\tother = 1\n)\n\ntype T struct {\n\tName string\n}", '"colors"'),
        ('func (p *P) Name() string { return "Painter" }', '"Painter"'),
        ('const PluginName = "Painter"\n\nfunc (*P) Name() string {\n\treturn PluginName\n}', "PluginName"),
        ('const painter = "Painter"\n\nfunc (p P) Name() string {\n\treturn painter\n}', '"Painter"'),
        ("func (p P) Name() string {\n\treturn p.name()\n}", '"colors"'),
        ('func (p P) Name() string { return "A" }\nfunc (q Q) Name() string { return "B" }', '"colors"'),
    ],
)
def test_the_name_is_the_exported_one_or_what_the_plugin_tells(tmp_path: Path, declared: str, name: str) -> None:
    assert PluginSource.parse(f"go:{plugin(tmp_path, declared)}").name == name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colors", "no plugin; go:FOLDER[:PACKAGE.CONSTRUCTOR] expected"),
        ("go:", "is no plugin"),
        ("cmd:colors", "is no plugin"),
        ("go:{folder}/nowhere", "no folder"),
        ("go:{folder}/empty", "no Go files in"),
        ("go:{folder}/program", "its package is main"),
        ("go:{folder}/colors:Nwe", "package colors has no function Nwe; its functions: New, Other"),
        ("go:{folder}:colours.New", 'no package "colours" there; did you mean "colors"? known: colors, program'),
        ("go:{folder}/colors:1x", '"1x" seen, PACKAGE.CONSTRUCTOR expected'),
    ],
)
def test_what_is_no_plugin_is_refused_with_what_there_is(tmp_path: Path, text: str, told: str) -> None:
    plugin(tmp_path / "colors")
    (tmp_path / "empty").mkdir()
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "main.go").write_text("package main\n\nfunc New() {}\n")
    with pytest.raises(InputError) as caught:
        PluginSource.parse(text.format(folder=tmp_path))
    assert told in str(caught.value)
