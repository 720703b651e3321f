"""Makes the scheduling framework write down its calls of plugins: edits its source, and adds plugins/hooks/ to it."""

from pathlib import PurePosixPath

from harness.errors import BuildError

RUNTIME = PurePosixPath("pkg/scheduler/framework/runtime")
FRAMEWORK = RUNTIME / "framework.go"
# Added files must not take the name of one that is there, in any version.
HOOK_PREFIX = "harness_"

# Each calls a plugin, or hands plugins out to who calls them. A function of plugins/hooks/ takes the name of each.
_RENAMED = (
    "PreEnqueuePlugins",
    "QueueSortFunc",
    "WaitOnPermit",
    "runBindPlugin",
    "runFilterPlugin",
    "runPermitPlugin",
    "runPostBindPlugin",
    "runPostFilterPlugin",
    "runPreBindPlugin",
    "runPreBindPreFlight",
    "runPreFilterExtensionAddPod",
    "runPreFilterExtensionRemovePod",
    "runPreFilterPlugin",
    "runPreScorePlugin",
    "runReservePluginReserve",
    "runReservePluginUnreserve",
    "runScoreExtension",
    "runScorePlugin",
)
_RENAMED_SINCE = {"computeBatchablePlugins": "1.35"}
_PLUGIN_MADE = "\t\tf.pluginsMap[name] = p\n"


def traced(source: str, minor: str, where: str) -> str:
    """Return the source of the framework with its calls of plugins led through the hooks.

    Args:
        source: framework.go.
        minor: the Kubernetes minor it is of.
        where: how to call the source in an error.

    Raises:
        BuildError: the source is not as it was when this was written.
    """
    added = [name for name, since in _RENAMED_SINCE.items() if _number(minor) >= _number(since)]
    for name in (*_RENAMED, *added):
        untraced = f"untraced{name[0].upper()}{name[1:]}"
        source = _edit(source, f"func (f *frameworkImpl) {name}(", f"func (f *frameworkImpl) {untraced}(", where)
    return _edit(source, _PLUGIN_MADE, f"{_PLUGIN_MADE}\t\ttraceArguments(name, p, args)\n", where)


def _edit(source: str, old: str, new: str, where: str) -> str:
    found = source.count(old)
    if found != 1:
        raise BuildError(
            f'{where}: "{old.strip()}" seen {found} times, once expected; the harness cannot trace the calls of '
            "plugins in this source. Adapt harness/plugin/tracing.py and plugins/hooks/ to it."
        )
    return source.replace(old, new)


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))
