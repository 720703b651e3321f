"""Characters that no XML may hold, not even escaped: a name can have them, and a picture must be drawn all the same."""

import re

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# As orjson writes them. Other escapes are matched too, so that the second half of `\\` begins none.
_ESCAPED = re.compile(r'\\(?:(b|f|u00[01][0-9a-f])|["\\nrt])')
_UNKNOWN = "\ufffd"


def legal(text: str, instead: str = "") -> str:
    """Return a text with something instead of each character that XML forbids."""
    return _ILLEGAL.sub(instead, text)


def legal_json(text: str) -> str:
    """Return JSON of orjson in which every such character, written out or escaped, is the one for unknown ones."""
    return _ESCAPED.sub(lambda match: _UNKNOWN if match[1] else match[0], legal(text, _UNKNOWN))
