"""Measures what scheduling costs: the CPU time of schedulers, extenders and taps, as the system counts it."""

from harness.process import family_cpu_seconds
from harness.variant.base import Installed, by_process


def cpu_seconds(installed: Installed) -> dict[str, float]:
    """Return the CPU seconds that each part has used since it was started; a part that is gone is left out."""
    used = {name: scheduler.cpu_seconds() for name, scheduler in by_process(installed).items()}
    if installed.traffic:
        for one in installed.traffic.extenders:
            if one.running.child:
                used[f"extender {one.name}"] = family_cpu_seconds(one.running.child.pid)
            if one.tap:
                used[f"tap {one.name}"] = family_cpu_seconds(one.tap.child.pid)
    return {name: seconds for name, seconds in used.items() if seconds is not None}


def since(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Return what was used between two measurements; a part that was started anew meanwhile began at zero."""
    return {
        name: round(used - before[name] if used >= before.get(name, 0.0) and name in before else used, 3)
        for name, used in after.items()
    }
