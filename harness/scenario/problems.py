"""One problem of a scenario file, with its place; every message a user sees about a file is built here."""

from dataclasses import dataclass, replace

Path = tuple[str | int, ...]
"""Where a value stands: ("steps", 2, "count")."""


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where; `str` gives the line that is shown."""

    file: str
    line: int
    path: Path
    message: str
    column: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")
        where = f"{dotted(self.path)}: " if self.path else ""
        text = f"{place}: {where}{self.message}"
        # A lone surrogate or a control character would break the terminal that prints the message.
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

    def in_sizes(self, sizes: list[str]) -> "Problem":
        """Return the problem with the sizes it is limited to."""
        words = ", ".join(f'"{size}"' for size in sizes)
        return replace(self, message=f"{self.message} (size{'s' if len(sizes) > 1 else ''} {words})")

    def on_cluster(self, provider: str) -> "Problem":
        """Return the problem as one that only the clusters of a provider have."""
        return replace(self, message=f"{self.message} (on {provider})")


def dotted(path: Path) -> str:
    """Return a path as it is written in messages: `steps[2].count`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def merged(by_size: dict[str, list[Problem]]) -> list[Problem]:
    """Return the problems of all sizes once each, in file order; one that not every size has names its sizes."""
    sizes_of: dict[Problem, list[str]] = {}
    for size, problems in by_size.items():
        for problem in dict.fromkeys(problems):
            sizes_of.setdefault(problem, []).append(size)
    shared = [p if len(sizes) == len(by_size) else p.in_sizes(sizes) for p, sizes in sizes_of.items()]
    return sorted(shared, key=lambda problem: (problem.file, problem.line))
