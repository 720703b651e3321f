"""The fingerprint of the machine a run was made on: enough to tell what cannot be compared, and no names."""

import hashlib
import os
import platform
from functools import cache
from typing import Any

import psutil

from harness import __version__


@cache
def fingerprint() -> dict[str, Any]:
    """Return what shapes a measurement; `id` is the same for machines that are alike."""
    facts = {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
    }
    return {**facts, "id": hashlib.sha256(repr(sorted(facts.items())).encode()).hexdigest()[:12]}


def load_now() -> float:
    """Return the one-minute load average, the cheapest hint that a measurement had company."""
    return os.getloadavg()[0]


def versions() -> dict[str, str]:
    """Return the versions of what the harness itself is made of."""
    return {"harness": __version__, "python": platform.python_version()}


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:  # noqa: PTH123 - no path to build
            return next(line.partition(":")[2].strip() for line in stream if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"
