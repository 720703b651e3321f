"""Builds a kube-scheduler with plugins compiled in, or from changed sources, and keeps it in the user's cache."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from harness import cache, progress, temporary, toolchain
from harness.cluster.embedded.build import FLAGS, LINKER_FLAGS
from harness.cluster.embedded.releases import Release
from harness.errors import SHOWN_LINES, BuildError, CommandError
from harness.paths import cache_folder, shipped
from harness.plugin import changes as changed_sources
from harness.plugin import tracing
from harness.plugin.changes import KUBERNETES, Changed
from harness.plugin.module import Module, module_of, replaced_folders
from harness.plugin.program import main_source
from harness.plugin.source import PluginSource
from harness.plugin.tree import plant
from harness.process import run

PROGRAM = "kube-scheduler"
FACTS = "build.json"
TRACE = "harness.test/trace"
# Of a larger file, which is no source, size and time of change have to do.
READ_BYTES_MAX = 1_000_000
BUILDS_KEPT = 5
FORGOTTEN_SECONDS = 86_400.0

_SHORTENED = re.compile(r"^[^\s:#]+\.go(?=:\d)", re.MULTILINE)


def scheduler_for(plugins: Sequence[PluginSource], release: Release, changes: Path | None = None) -> Path:
    """Return a kube-scheduler that has the plugins registered; built now unless these very sources were built before.

    It takes all flags of kube-scheduler, ends with its lifeline as the control plane's parts do, and writes a trace of
    the calls of all plugins to the file that HARNESS_TRACE names.

    Args:
        plugins: what to compile in; none is fine.
        release: the Kubernetes release to build.
        changes: a folder with changed sources of Kubernetes, laid out as its source tree.

    Raises:
        InputError: a plugin is for another Kubernetes minor, or a changed file has no counterpart.
        BuildError: it does not compile; carries what the compiler said.
        MissingToolError: there is no Go that is new enough.
    """
    needed = [release.go, *(toolchain.needed_by(plugin.module) for plugin in plugins if plugin.module)]
    go = toolchain.find(max(needed, key=toolchain.version_key))
    changed = changed_sources.read(changes) if changes else {}
    key = "-".join([release.version, *(plugin.package for plugin in plugins), *(["changed"] if changes else [])])
    folder = cache_folder() / "schedulers" / f"{key}-{_digest(plugins, release, changed, go)}"
    what = f"kube-scheduler {release.version} with {_names(plugins, changes)}"

    def make(draft: Path) -> None:
        _Build(plugins, release, changed, go, what).into(draft)
        _forget(folder.parent, key, draft.stat().st_mtime)

    return cache.kept(folder, make, what=what) / PROGRAM


def plugin_names(program: Path) -> list[str]:
    """Return the names under which a built scheduler has registered its plugins, in the order they were given."""
    return list(json.loads((program.parent / FACTS).read_text())["plugins"])


def _forget(folder: Path, key: str, now: float) -> None:
    """Remove old builds of the same plugins: each is large, and whoever edits a plugin makes many."""
    builds = [path for path in folder.glob(f"{key}-*") if path.is_dir() and path.name.count("-") == key.count("-") + 1]
    builds.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in builds[BUILDS_KEPT:]:
        # Somebody may be about to start a younger one.
        if now - path.stat().st_mtime > FORGOTTEN_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _names(plugins: Sequence[PluginSource], changes: Path | None) -> str:
    return ", ".join([*(plugin.text for plugin in plugins), *([f"changes from {changes}"] if changes else [])]) or (
        "no plugin"
    )


class _Build:
    """One build: everything it needs is laid out in a folder that goes when it ends."""

    def __init__(
        self, plugins: Sequence[PluginSource], release: Release, changed: Changed, go: toolchain.Toolchain, what: str
    ) -> None:
        self._plugins = plugins
        self._release = release
        self._changed = changed
        self._go = go
        self._what = what

    def into(self, draft: Path) -> None:
        """Build the program and note its facts."""
        progress.note(f"Building {self._what}, with Go {self._go.version} ({self._go.origin}).")
        with temporary.folder("build") as made:
            folder = made.resolve()
            module, paths = module_of(self._plugins, self._release, self._go)
            module.add(TRACE, shipped("plugins") / "trace")
            (folder / "main.go").write_text(main_source(self._plugins, paths))
            (folder / "lifeline.go").write_bytes((shipped("controlplane") / "lifeline.go").read_bytes())
            self._write_module(folder, module)
            self._plant(folder, module)
            self._write_module(folder, module)
            self._compile(folder, module, draft / PROGRAM)
        names = json.loads(run([str(draft / PROGRAM)], env={"HARNESS_LIST_PLUGINS": "1", "HARNESS_TRACE": ""}))
        facts = {"kubernetes": self._release.version, "go": self._go.version, "plugins": names}
        (draft / FACTS).write_text(json.dumps(facts, indent=2))

    def _write_module(self, folder: Path, module: Module) -> None:
        (folder / "go.mod").write_text(module.text(self._release))
        (folder / "go.sum").write_text(module.sum_text(self._release))

    def _plant(self, folder: Path, module: Module) -> None:
        """Put changed modules in the place of the original ones."""
        changed = {name: dict(files) for name, files in self._changed.items()}
        originals = {name: self._original(name, folder) for name in {KUBERNETES, *changed}}
        version = self._release.version
        for name, files in changed.items():
            changed[name] = changed_sources.edited(files, originals[name], version, folder / "edited")
            changed_sources.check(changed[name], originals[name], version)
        changed.setdefault(KUBERNETES, {}).update(self._traced(changed.get(KUBERNETES, {}), originals, folder))
        for name, files in changed.items():
            place = folder / "modules" / name.replace("/", "_")
            place.parent.mkdir(exist_ok=True)
            plant(originals[name], files, place)
            module.replacements.append(f"replace {name} => {place}")

    def _traced(
        self, changed: Mapping[PurePosixPath, Path], originals: Mapping[str, Path], folder: Path
    ) -> dict[PurePosixPath, Path]:
        source = changed.get(tracing.FRAMEWORK, originals[KUBERNETES] / tracing.FRAMEWORK)
        theirs = f"Kubernetes {self._release.version}, {tracing.FRAMEWORK}"
        where = str(source) if tracing.FRAMEWORK in changed else theirs
        edited = folder / "framework.go.traced"
        edited.write_text(tracing.traced(source.read_text(), self._release.minor, where))
        hooks = (shipped("plugins") / "hooks").glob("*.go")
        added = {tracing.RUNTIME / f"{tracing.HOOK_PREFIX}{hook.name}": hook.resolve() for hook in hooks}
        return {tracing.FRAMEWORK: edited, **added}

    def _original(self, module: str, folder: Path) -> Path:
        try:
            facts = json.loads(self._run_go(folder, "mod", "download", "-json", module, title="Fetching Go modules"))
        except CommandError as error:
            raise BuildError(f"{self._what}: {module} cannot be fetched:\n{error.output.strip()}") from error
        return Path(facts["Dir"])

    def _compile(self, folder: Path, module: Module, output: Path) -> None:
        overlay = {}
        for number, (path, text) in enumerate(module.overlay.items()):
            file = folder / f"overlay{number}"
            file.write_text(text)
            overlay[str(path)] = str(file)
        (folder / "overlay.json").write_text(json.dumps({"Replace": overlay}))
        major, minor, _ = self._release.version.split(".")
        stamps = {"gitVersion": f"v{self._release.version}", "gitMajor": major, "gitMinor": minor}
        linker = [LINKER_FLAGS, *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())]
        command = [
            *("build", "-v", "-overlay=overlay.json", f"-mod={'mod' if module.is_open else 'readonly'}"),
            *(*FLAGS, f"-tags=kubernetes{self._release.minor}", "-ldflags", " ".join(linker), "-o", str(output), "."),
        ]
        try:
            self._run_go(folder, *command, title="Compiling packages")
        except CommandError as error:
            said = _as_users_know_it(error.output, folder, self._changed)
            raise BuildError(f"{self._what} does not compile with Go {self._go.version}:\n{said}") from error

    def _run_go(self, folder: Path, *arguments: str, title: str) -> str:
        with progress.bar(title) as shown:
            return run(
                [str(self._go.program), *arguments], cwd=folder, env=self._go.environment(), on_line=shown.advance
            )


def _as_users_know_it(output: str, folder: Path, changed: Changed) -> str:
    """Return what the compiler said with whole paths, those of the user's own files, and without package names."""
    said = "\n".join([line for line in output.splitlines() if " " in line or "\t" in line][-SHOWN_LINES:])
    # Go shortens a path to one from here when that is shorter.
    said = _SHORTENED.sub(lambda match: os.path.normpath(folder / match[0]), said)
    said = said.replace(str(folder / "main.go"), "main.go (written by the harness)")
    for module, files in changed.items():
        place = folder / "modules" / module.replace("/", "_")
        for path, file in files.items():
            said = said.replace(str(place / path), str(file))
    return said


def _digest(plugins: Sequence[PluginSource], release: Release, changed: Changed, go: toolchain.Toolchain) -> str:
    """Return what tells one state of all sources from every other."""
    harness = shipped("plugins")
    lifeline = shipped("controlplane") / "lifeline.go"
    named = [
        *((f"trace/{path.name}", path) for path in sorted((harness / "trace").glob("*.go"))),
        *((f"hooks/{path.name}", path) for path in sorted((harness / "hooks").glob("*.go"))),
        *((path.name, path) for path in (lifeline, release.module_file, release.module_file.with_suffix(".sum"))),
        *((f"{module}/{path}", file) for module, files in changed.items() for path, file in sorted(files.items())),
    ]
    for number, plugin in enumerate(plugins):
        where = plugin.folder.relative_to(plugin.root)
        named.append((f"{number}/{plugin.name}/{plugin.constructor}/{where}", plugin.root / "go.mod"))
        for place, root in enumerate((plugin.root, *replaced_folders(plugin))):
            named += [(f"{number}/{place}/{path.relative_to(root)}", path) for path in _files(root)]
    digest = hashlib.sha256(repr((go.version, FLAGS, LINKER_FLAGS, main_source([], []))).encode())
    for name, path in named:
        digest.update(f"{name}\0".encode() + _content(path))
    return digest.hexdigest()[:12]


def _content(path: Path) -> bytes:
    try:
        facts = path.stat()
        return path.read_bytes() if facts.st_size <= READ_BYTES_MAX else str(facts.st_mtime_ns).encode()
    except FileNotFoundError:
        return b""


def _files(root: Path) -> Iterable[Path]:
    for parent, below, names in os.walk(root):
        # The go command passes over these too.
        below[:] = sorted(name for name in below if not name.startswith((".", "_")) and name != "node_modules")
        yield from (Path(parent) / name for name in sorted(names) if not name.startswith("."))
