"""Removes what is left of clusters whose owners were killed: their folders, and what they left elsewhere."""

from collections.abc import Callable

from harness.cluster.folder import ClusterFolder, remove_abandoned
from harness.cluster.recovery import Recovers, Sweeps
from harness.cluster.registry import CLUSTERS, provider
from harness.errors import HarnessError

Say = Callable[[str], None]


def remove(say: Say) -> list[str]:
    """Remove everything that nobody owns any more; return the names of the clusters, and say what else went."""
    return remove_abandoned(lambda folder: recover(folder, say))


def sweep(say: Say, doubt: Say) -> None:
    """Remove what is known without any folder to be nobody's; say what went, and what stays because of a doubt."""
    for name in CLUSTERS.names():
        made = provider(name)
        if not isinstance(made, Sweeps):
            continue
        try:
            swept = made.sweep()
        except HarnessError as error:
            say(f"what clusters of {name} left could not be looked for, or not be removed: {error}")
            continue
        for what in swept.removed:
            say(f"removed {what}")
        for what in swept.doubts:
            doubt(what)


def recover(folder: ClusterFolder, say: Say) -> bool:
    """Undo what a cluster's owner left outside of its folder; return whether the folder can go now."""
    facts = folder.facts()
    name = str(facts.get("provider", ""))
    if name not in CLUSTERS.names():
        return True
    made = provider(name)
    if not isinstance(made, Recovers):
        return True
    try:
        for what in made.recover(folder.path, facts):
            say(f"removed {what}")
    except HarnessError as error:
        say(
            f"{folder.name}: what it left could not be removed, and is tried again next time: {error}. "
            f"If that cluster is gone for good, delete {folder.path}"
        )
        return False
    return True
