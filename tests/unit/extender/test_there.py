from pathlib import Path

import pytest

from harness.errors import InputError
from harness.extender.subject.parse import parse
from harness.extender.subject.there import check_there


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a module that must not be imported, and packages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_extender.py").write_text("raise SystemExit('imported')\n")
    for package, file in (("team", "team/__init__.py"), ("bare", "bare/inner/mine.py")):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / package / "mine.py").write_text("raise SystemExit('imported')\n")
        (tmp_path / file).write_text("raise SystemExit('imported')\n")
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "go.mod").write_text("module x\n")
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "cmd:sh -c true",
        "go:code",
        "go:./code -- --port {port}",
        "py:my_extender:Mine",
        "py:team.mine:Mine",
        "py:bare.mine:Mine",
        "py:bare.inner.mine:Mine",
        "py:os.path:join",
        "py:tests.unit.extender.test_there:here",
        "ref:lucky",
        "http://127.0.0.1:1",
        "image:team/extender:v1",
    ],
)
def test_what_is_there_is_neither_refused_nor_touched(text: str) -> None:
    check_there(parse(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cmd:nosuchprog {port}", "cmd:nosuchprog {port}: no program 'nosuchprog' on PATH that may be executed"),
        ("cmd:./nope", "cmd:./nope: no program './nope' in HERE that may be executed"),
        ("cmd:./program", "cmd:./program: no program './program' in HERE that may be executed"),
        ("go:./nope", "go:nope: no such folder; name the folder of the program's main package"),
        ("go:team", "go:HERE/team: no go.mod there or above; make one with: go mod init NAME && go mod tidy"),
        (
            "py:my_extener:Mine",
            (
                "py:my_extener:Mine: no module 'my_extener' in HERE or where Python always looks; "
                'did you mean "my_extender"?'
            ),
        ),
        (
            "py:zzz:Mine",
            (
                "py:zzz:Mine: no module 'zzz' in HERE or where Python always looks; "
                "correct the name, or run the command in its folder"
            ),
        ),
        ("py:team.mien:Mine", "py:team.mien:Mine: no module 'team.mien' in HERE/team; did you mean \"mine\"?"),
    ],
)
def test_what_is_not_there_is_told(here: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_there(parse(text))
    assert str(caught.value) == said.replace("HERE", str(here.resolve()))


def test_a_module_is_looked_for_where_its_process_will_run(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = here / "away"
    away.mkdir()
    (here / "subject.yaml").write_text("subject: py:my_extender:Mine\n")
    monkeypatch.chdir(away)
    check_there(parse(str(here)))
    (here / "subject.yaml").write_text(f"subject: py:mine:Mine\nenv: {{PYTHONPATH: {here / 'team'}}}\n")
    check_there(parse(str(here)))
