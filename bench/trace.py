"""Records a trace of a noisy machine: `python -m bench.trace FILE [ROUNDS]`.

Three copies of the work-factor extender, two of which do the same, are asked in turns. The checker's own tests replay
what they took: the noise is real, and who is slower is known.
"""

import contextlib
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from harness.extender.subject.parse import parse
from harness.extender.subject.start import started
from harness.load.lean import LeanClient, prepare
from harness.load.regress.corpus import generated
from harness.load.regress.cpu import TreeClock
from harness.progress import bar

SUBJECT = "go:tests/subjects/workfactor"
# Seven tenths of what an answer costs are work, so that this is a tenth more in all.
SLOWER = "-factor 1.14"
ARMS = {"same": SUBJECT, "same again": SUBJECT, "slower": f"{SUBJECT} -- {SLOWER}"}
ROUNDS = 24_000
WARM_UP = 200
TIMEOUT_SECONDS = 5.0
SECOND = 1e-9


def record(rounds: int) -> dict[str, Any]:
    """Return processor and wall seconds, a row per round and a column per arm."""
    body = generated("filter", 100, "names").bodies[0]
    order = list(range(len(ARMS)))
    shuffled = random.Random(0)  # noqa: S311 - repeatable, not secret
    cpu, wall = np.zeros((rounds, len(ARMS))), np.zeros((rounds, len(ARMS)))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        arms = []
        for name, text in ARMS.items():
            place = folder / name.replace(" ", "-")
            running = stack.enter_context(started(parse(text), folder=place, seed=0, kubeconfig=None))
            client = stack.enter_context(LeanClient(running.url, TIMEOUT_SECONDS))
            arms.append((client, TreeClock(running), prepare(f"{running.url}/filter", body)))
        shown = stack.enter_context(bar("Recording", rounds + WARM_UP))
        for number in range(-WARM_UP, rounds):
            shuffled.shuffle(order)
            for arm in order:
                client, clock, request = arms[arm]
                before = clock.read()
                outcome = client.send(request)
                after = clock.read()
                if not outcome.ok:
                    raise RuntimeError(f"arm {arm} failed: {outcome}")
                cpu[number, arm] = (after - before) * SECOND
                wall[number, arm] = (outcome.done_ns - outcome.sent_ns) * SECOND
            shown.advance(f"round {number}")
    return {"cpu": cpu.astype(np.float32), "wall": wall.astype(np.float32), "arms": np.array(list(ARMS))}


if __name__ == "__main__":
    began = time.perf_counter()
    np.savez_compressed(sys.argv[1], **record(int(sys.argv[2]) if sys.argv[2:] else ROUNDS))
    print(f"{sys.argv[1]}: {time.perf_counter() - began:.0f} s")
