import sys
from pathlib import Path

import pytest

from harness.cluster.kind import elf
from harness.cluster.kind.libraries import libraries
from tests.unit.cluster.kind.given import Programs


def test_a_library_that_a_package_has_beside_itself_gets_its_plain_path(programs: Programs) -> None:
    interpreter = Path(sys.executable).resolve()
    head = elf.read(interpreter) if sys.platform == "linux" else None
    if head is None or head.loader is None:
        pytest.skip("this interpreter needs no libraries")
    line = r"\tlibblas.so => /site/numpy/linalg/../../numpy.libs/libblas.so (0x00007f0000000000)\n"
    programs.put("ldd", {"*": f"printf '{line}'"})
    assert libraries(interpreter, [])["libblas.so"] == Path("/site/numpy.libs/libblas.so")
