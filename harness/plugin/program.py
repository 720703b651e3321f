"""Writes the main program of a scheduler with plugins."""

import json
from collections.abc import Sequence

from harness.plugin.source import PluginSource

_MAIN = """\
// Command kube-scheduler is the upstream one with plugins of others registered. Written by the harness.
package main

import (
	"encoding/json"
	"os"

	"harness.test/trace"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
%(imports)s)

func main() {
	names := []string{%(names)s}
	if os.Getenv("HARNESS_LIST_PLUGINS") != "" {
		_ = json.NewEncoder(os.Stdout).Encode(names)
		return
	}
	holdLifeline()
	code := cli.Run(app.NewSchedulerCommand(
%(options)s	))
	trace.Current.Flush()
	os.Exit(code)
}
"""


def main_source(plugins: Sequence[PluginSource], paths: Sequence[str]) -> str:
    """Return the program that registers the plugins; `paths` are the import paths of their packages."""
    names = [_registered(one.name, number) for number, one in enumerate(plugins)]
    options = [
        f"\t\tapp.WithPlugin({name}, plugin{number}.{one.constructor}),\n"
        for number, (name, one) in enumerate(zip(names, plugins, strict=True))
    ]
    return _MAIN % {
        "imports": "".join(f"\n\tplugin{number} {json.dumps(path)}\n" for number, path in enumerate(paths)),
        "names": ", ".join(names),
        "options": "".join(options),
    }


def _registered(name: str, number: int) -> str:
    return name if name.startswith('"') else f"plugin{number}.{name}"
