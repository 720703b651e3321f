import gzip

import pytest

from harness.load.reply import has_error


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"NodeNames":["a"],"Error":""}', False),
        (b'{"NodeNames":["a"],"Error" : "no"}', True),
        (b'{"error":"no"}', True),
        (b'{"Error":null}', False),
        (b'[{"Host":"a","Score":1}]', False),
        # Deep in a node it says nothing about the extender.
        (b'{"Nodes":{"items":[{"Error":"x"}]},"Error":""}', False),
        (b'{"Nodes":{"items":[{"Error":""}]},"Error":"x"}', True),
        (b'{"Error":"cut', False),
        (gzip.compress(b'{"Error":"no"}', mtime=0), True),
        (b"", False),
    ],
)
def test_a_text_in_error_is_found_and_nothing_else(body: bytes, expected: bool) -> None:
    assert has_error([body]) is expected
    half = len(body) // 2
    assert has_error([body[:half], body[half:]]) is expected
