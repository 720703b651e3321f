"""Keeps in the record what stands around a run: its inputs, the schedulers' metrics, the logs of its time."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import orjson
import yaml

from harness.clock import unix_ns
from harness.cluster.base import Cluster, KeepsLogs, Scheduler, TellsCommand, told
from harness.errors import ClusterError
from harness.extender.cassette.command import without_logins, without_secrets, without_secrets_in
from harness.plugin.trace import read as read_trace
from harness.record.write import RecordWriter
from harness.scenario.model import Scenario
from harness.variant.base import Installed, by_process

# With its value, or before it.
_VERBOSITY = re.compile(r"--?v(?:=(?P<joined>\d+))?|-v(?P<short>\d+)")
# In YAML, JSON, and JSON within JSON: the name, what separates it from its value, and a value in base64.
_KEY_DATA = re.compile(r"""(keyData\\*["']?\s*[:=]\s*\\*["']?)[A-Za-z0-9+/=_-]+""")


def inputs(writer: RecordWriter, scenario: Scenario, installed: Installed) -> None:
    """Write what the run was made from."""
    typed = _typed(scenario)
    writer.write_text("inputs/scenario.yaml", _without(typed, without_keys(scenario.source)))
    for name, text in scenario.manifests.items():
        # A manifest may lie outside the scenario's folder, but never outside the record.
        inside = [part for part in PurePosixPath(name).parts if part not in {"..", "/"}]
        writer.write_text("/".join(["inputs", *inside]), without_keys(text))
    known = without_keys(orjson.dumps(scenario.to_json()).decode())
    writer.write_text("inputs/scenario.json", _without(typed, known))
    writer.write_text("scheduler-config.yaml", without_logins(without_keys(installed.config)))


def command(words: Sequence[str]) -> list[str]:
    """Return the command line as a record keeps it."""
    return [without_keys(word) for word in without_secrets_in(words)]


def without_keys(text: str) -> str:
    """Return a text in which nobody's private key stands, whatever format it is in."""
    return _KEY_DATA.sub(r"\1(left out)", text)


def _typed(scenario: Scenario) -> list[str]:
    """Return the subjects of a scenario, in which secrets may stand as they may on a command line."""
    plugins = [plugin.source for plugin in scenario.plugins]
    extenders = [extender.subject for extender in scenario.extenders]
    return [text for text in (*extenders, scenario.scheduler, scenario.controller, *plugins) if text]


def _without(typed: Sequence[str], text: str) -> str:
    """Return a text in which each subject stands without its secrets; spelled as YAML or as JSON."""
    for subject in typed:
        safe = without_secrets(subject)
        for before, after in ((subject, safe), (_in_json(subject), _in_json(safe))):
            text = text.replace(before, after)
    return text


def _in_json(text: str) -> str:
    return orjson.dumps(text).decode()[1:-1]


def schedulers(cluster: Cluster, installed: Installed) -> list[dict[str, Any]]:
    """Return how every scheduler process was started, so that nobody has to believe that they had the same settings."""
    return [_started(name, one, cluster, installed) for name, one in by_process(installed).items()]


def _started(name: str, scheduler: Scheduler, cluster: Cluster, installed: Installed) -> dict[str, Any]:
    document = yaml.safe_load(scheduler.config)
    config: dict[str, Any] = document if isinstance(document, dict) else {}
    limits = config.get("clientConnection") or config.get("settings") or {}
    election = config.get("leaderElection") or config.get("settings") or {}
    typed = scheduler.command if isinstance(scheduler, TellsCommand) else ()
    words = [told(cluster, word) for word in command(typed)]
    return {
        "name": name,
        "command": words or None,
        "verbosity": _verbosity(words),
        "qps": limits.get("qps"),
        "burst": limits.get("burst"),
        "leaderElect": election.get("leaderElect"),
        "traced": installed.trace is not None,
    }


def _verbosity(words: Sequence[str]) -> int | None:
    """Return how much a command line lets a scheduler log: the last word counts."""
    seen = None
    for word, following in pairwise((*words, "")):
        if found := _VERBOSITY.fullmatch(word):
            value = found["joined"] or found["short"] or following
            seen = int(value) if value.isdecimal() else seen
    return seen


def trace(writer: RecordWriter, cluster: Cluster, installed: Installed, began_unix_ns: int) -> list[str]:
    """Write what plugins did since the run began, if that is traced; return a warning for each that did nothing."""
    if installed.trace is None or not installed.trace.exists():
        return []
    seen = read_trace(installed.trace, began_unix_ns, unix_ns())
    for call in seen.calls:
        writer.append("trace", {**asdict(call), "pod": told(cluster, call.pod)})
    writer.write_json("plugin-arguments.json", dict(seen.arguments))
    called = {call.plugin for call in seen.calls}
    return [
        f"plugin {name} was never called; it stands at every extension point but QueueSort, and at Bind behind "
        "DefaultBinder: say otherwise with --scheduler-config"
        for name in installed.plugins
        if called and name not in called
    ]


def metrics(writer: RecordWriter, name: str, installed: Installed) -> list[str]:
    """Write the metrics of every scheduler; return a warning for each that does not tell them."""
    pages, warnings = [], []
    for scheduler_name, scheduler in by_process(installed).items():
        try:
            pages.append(f"# scheduler: {scheduler_name}\n{scheduler.page('/metrics')}")
        except ClusterError as error:
            warnings.append(f"{name}: no metrics of {scheduler_name}: {error}")
    writer.write_text(name, "\n".join(pages))
    return warnings


def log_files(cluster: Cluster, installed: Installed) -> dict[str, Path]:
    """Return the log of every part of the cluster and of every extender, by the name it gets in a record."""
    of_cluster = dict(cluster.logs) if isinstance(cluster, KeepsLogs) else {}
    return of_cluster | (installed.traffic.logs() if installed.traffic else {})


@contextlib.contextmanager
def logs(cluster: Cluster, installed: Installed, writer: RecordWriter) -> Iterator[None]:
    """Copy what each part logs while the context lasts, also when it ends in an error."""
    begin = {name: path.stat().st_size for name, path in log_files(cluster, installed).items() if path.exists()}
    try:
        yield
    finally:
        for name, path in log_files(cluster, installed).items():
            if not path.exists():
                continue
            with path.open("rb") as stream:
                stream.seek(begin.get(name, 0))
                writer.write_text(f"logs/{name}.log", told(cluster, stream.read().decode(errors="replace")))
