"""Reads files of arrays, as raw samples are kept in, however damaged they may be."""

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import RecordError

if TYPE_CHECKING:
    import numpy

Arrays = dict[str, "numpy.ndarray[Any, Any]"]


def read_arrays(file: Path) -> Arrays:
    """Return all arrays of a file by name.

    Raises:
        RecordError: it is not there, or damaged.
    """
    import numpy as np  # noqa: PLC0415 - only those who look into samples need it

    try:
        # Opened here: numpy would leave a file open that was cut off.
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    # A file that is a single array has no `files`.
    except (OSError, ValueError, KeyError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RecordError(f"{file}: the samples cannot be read ({error}); measure again") from error
