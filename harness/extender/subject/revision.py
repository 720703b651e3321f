"""Takes a folder as a revision of its Git repository has it: `FOLDER@REVISION`. The repository stays as it is."""

import contextlib
import difflib
import shutil
from pathlib import Path

from harness import cache
from harness.errors import CommandError, InputError, MissingToolError
from harness.paths import cache_folder
from harness.process import run

MARK = "@"
NAMES_SHOWN_MAX = 5
HASH_CHARACTERS = 16
# A hook of Git sets these, and they lead to another repository than the folder's own.
_NOT_OURS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def split(path: Path) -> tuple[Path, str] | None:
    """Return the folder and the revision that a path with an @ stands for; None if it is a plain folder or neither.

    Both may have an @ in them. The folder is the shortest beginning that is one.
    """
    text = str(path)
    if path.is_dir() or MARK not in text:
        return None
    places = [place for place, character in enumerate(text) if character == MARK]
    for place in places:
        folder = Path(text[:place] or ".")
        if folder.is_dir() and text[place + 1 :]:
            return folder, text[place + 1 :]
    return None


def checked_out(folder: Path, revision: str) -> Path:
    """Return the folder as it is in a revision, kept in the user's cache by commit.

    Raises:
        InputError: there is no repository, no such revision, or no such folder in it.
        MissingToolError: there is no git.
    """
    if not shutil.which("git"):
        raise MissingToolError(f"{folder}{MARK}{revision}: git is needed to take a revision, and is not on PATH")
    try:
        top, prefix = _git(folder, "rev-parse", "--show-toplevel", "--show-prefix").split("\n")[:2]
    except CommandError as error:
        raise InputError(
            f"{folder}{MARK}{revision}: {folder} is in no Git repository that can be read; "
            f"leave {MARK}{revision} out, or give a checkout. Git said: {error.output.strip()}"
        ) from None
    commit = _commit(folder, revision)
    _check_folder(folder, revision, commit, prefix)
    name = f"{Path(top).name}-{commit[:HASH_CHARACTERS]}"

    def fill(draft: Path) -> None:
        index = {"GIT_INDEX_FILE": str(draft.resolve() / ".index")}
        _git(Path(top), "read-tree", commit, env=index)
        _git(Path(top), "checkout-index", "--all", f"--prefix={draft.resolve()}/", env=index)
        (draft / ".index").unlink()

    kept = cache.kept(cache_folder() / "revisions" / name, fill, what=f"{folder}{MARK}{revision}")
    return kept / prefix


def _commit(folder: Path, revision: str) -> str:
    with contextlib.suppress(CommandError):
        return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    names = _git(folder, "for-each-ref", "--format=%(refname:short)").split()
    near = difflib.get_close_matches(revision, names, n=NAMES_SHOWN_MAX, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else f"; known: {', '.join(names[:NAMES_SHOWN_MAX]) or 'none'}"
    raise InputError(f"{folder}{MARK}{revision}: no revision {revision!r} in this repository{hint}")


def _check_folder(folder: Path, revision: str, commit: str, prefix: str) -> None:
    if prefix and not _git(folder, "ls-tree", "--full-tree", "-d", commit, prefix.rstrip("/")).strip():
        raise InputError(
            f"{folder}{MARK}{revision}: commit {commit[:HASH_CHARACTERS]} has no folder {prefix}; "
            "take a later revision, or the folder under its old name in a checkout of that revision"
        )


def _git(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    cleared = [part for name in _NOT_OURS for part in ("-u", name)]
    set_here = [f"{name}={value}" for name, value in (env or {}).items()]
    return run(["env", *cleared, *set_here, "git", "-C", str(folder.resolve()), *arguments])
