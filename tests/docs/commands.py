"""Carries out what a document shows, in a folder of its own, and compares what is printed with what is shown."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import process
from harness.errors import CommandError
from tests.docs.pages import ROOT, Block, Command, Page

ANYTHING = "…"
EXECUTED = ("harness", "pytest", "make run")

# What differs from one run or machine to the next, and what stands for it in a comparison.
_VARYING = (
    (re.compile(r"\b\d+\.\d+ s\b"), "# s"),
    (re.compile(r"\b\d{8}-\d{6}-[a-z0-9-]+?-[0-9a-f]{4}\b"), "<id>"),
    (re.compile(r"(?<![\w.])/[\w.+@/-]+"), "<path>"),
    (re.compile(r"on first use"), "yes"),
    (re.compile(r"-{2,}"), "--"),
    (re.compile(r"\s+"), " "),
    # Memory in `harness list`, milliseconds in a comparison.
    (re.compile(r"\d+ (?=<path>)"), ""),
    (re.compile(r"^(\S+ \S+ \d+/\d+ \d+ \d+ \d+) .*"), r"\1"),
)


@dataclass(frozen=True)
class Scratch:
    """A folder like a user's: the scenarios and the sample record are there, records are written below it."""

    folder: Path
    state: Path

    @classmethod
    def make(cls, folder: Path, state: Path) -> "Scratch":
        (folder / "scenarios").symlink_to(ROOT / "scenarios")
        (folder / "reports").mkdir()
        (folder / "reports" / "sample").symlink_to(ROOT / "reports" / "sample")
        return cls(folder, state)

    def save(self, block: Block) -> None:
        target = self.folder / (block.file or "")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")

    def run(self, command: str) -> tuple[int, str]:
        """Run a command and return its exit code and what it printed."""
        try:
            return 0, process.run(["sh", "-c", command], cwd=self.folder, env=self._environment())
        except CommandError as error:
            return error.command_exit_code, error.output

    def _environment(self) -> Mapping[str, str]:
        programs = Path(sys.executable).parent
        return {
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            # As in a pipe: what documents show has all columns, whoever runs this.
            "COLUMNS": "0",
            "HARNESS_RUNS": "reports/runs",
            "HARNESS_STATE": str(self.state),
            # Clusters of kind are found without that folder; no page that needs some is executed.
            "DOCKER_HOST": "unix:///nowhere/docker.sock",
        }


def is_executed(command: Command) -> bool:
    return command.text.startswith(EXECUTED)


def executed(page: Page) -> list[Command]:
    return [command for block in page.blocks("console") for command in block.commands() if is_executed(command)]


def carry_out(page: Page, scratch: Scratch) -> None:
    """Save the files of a page and run its commands, in the order in which a reader meets them."""
    for block in page.blocks():
        if block.file:
            scratch.save(block)
        elif block.language == "console":
            for command in filter(is_executed, block.commands()):
                code, printed = scratch.run(_behind_make(command.text))
                where = f"{page}: {command.text}"
                assert code == command.exit_code, f"{where}: exit code {code}, {command.exit_code} shown\n{printed}"
                missing = first_missing(command.shown, printed.splitlines())
                assert missing is None, f"{where}: shown, but not printed:\n{missing}\nprinted:\n{printed}"


def first_missing(shown: Iterable[str], printed: Iterable[str]) -> str | None:
    """Return the first line shown that was not printed after the ones before it; a dot triple stands for anything."""
    rest = iter([normal(line) for line in printed])
    for line in shown:
        wanted = normal(line)
        pattern = re.compile(".*".join(map(re.escape, wanted.split(ANYTHING))))
        if wanted.strip(ANYTHING) and not any(pattern.fullmatch(one) for one in rest):
            return line
    return None


def normal(line: str) -> str:
    """Return a line without what varies."""
    for pattern, replacement in _VARYING:
        line = pattern.sub(replacement, line)
    # Which of equal nodes gets a pod more is chance; how many get it is not.
    before, found, nodes = line.partition("pods per node: ")
    counts = sorted(node.rpartition(" ")[2] for node in nodes.split(", "))
    return f"{before}{found}{counts}".strip() if found else line.strip()


def _behind_make(command: str) -> str:
    """Return what `make run` runs after set-up, which whoever runs these tests has done."""
    if command != "make run":
        return command
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (variants,) = re.findall(r"^VARIANTS := (.*)$", makefile, re.MULTILINE)
    (recipe,) = re.findall(r"^run:.*\n\t\$\(BIN\)/(harness run .*)$", makefile, re.MULTILINE)
    chosen = " ".join(f"--variant {name}" for name in variants.split())
    spelt = str(recipe).replace("$(addprefix --variant ,$(VARIANTS))", chosen)
    # make tells what it runs.
    return f"echo .venv/bin/{spelt}; {spelt}"
