"""The tap's own tests, which stand beside its code."""

import re

from harness import process, toolchain
from harness.paths import shipped


def test_the_tap_passes_its_own_tests() -> None:
    source = shipped("tap")
    go = toolchain.find(toolchain.needed_by(source))
    output = process.run([str(go.program), "test", "-count=1", "./..."], cwd=source, env=go.environment())
    assert re.search(r"^ok\s+harness\.test/tap\s", output, re.MULTILINE), output
