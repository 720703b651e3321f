"""Measures what scheduling costs: the CPU time of schedulers, extenders and taps, as the system counts it."""

import contextlib

import psutil

from harness.variant.base import Installed, by_process


def cpu_seconds(installed: Installed) -> dict[str, float]:
    """Return the CPU seconds that each part has used since it was started; a part that is gone is left out."""
    pids = {name: scheduler.pid for name, scheduler in by_process(installed).items()}
    if installed.traffic:
        for one in installed.traffic.extenders:
            if one.running.child:
                pids[f"extender {one.name}"] = one.running.child.pid
            if one.tap:
                pids[f"tap {one.name}"] = one.tap.child.pid
    used = {}
    for name, pid in pids.items():
        with contextlib.suppress(psutil.Error):
            used[name] = _family_seconds(psutil.Process(pid))
    return used


def since(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Return what was used between two measurements; a part that was started anew meanwhile began at zero."""
    return {
        name: round(used - before[name] if used >= before.get(name, 0.0) and name in before else used, 3)
        for name, used in after.items()
    }


def _family_seconds(process: psutil.Process) -> float:
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            times = one.cpu_times()
            total += times.user + times.system
    return total
