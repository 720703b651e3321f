"""Calls the command line as a shell would, inside this process."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from harness.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Harness = Callable[..., Ended]


@pytest.fixture
def harness(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
    """The `harness` command, on a terminal wide enough for every sentence."""
    monkeypatch.setenv("COLUMNS", "140")
    # What tests report is nothing for the page of the job that runs them.
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    before = signal.getsignal(signal.SIGTERM)

    def call(*arguments: object) -> Ended:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Ended(left.value.code, printed.out, printed.err)

    yield call
    # The command takes SIGTERM for itself.
    signal.signal(signal.SIGTERM, before)
