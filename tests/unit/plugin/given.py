"""Plugins as people write them."""

from pathlib import Path

SOURCE = """\
// Package colors is a plugin. It is not "package main".
package colors

{declared}

func New(ctx context.Context, arguments runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {{ return nil, nil }}

func Other() {{}}
"""


def plugin(folder: Path, declared: str = 'const Name = "Colors"') -> Path:
    """Write a plugin's package."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "colors.go").write_text(SOURCE.format(declared=declared))
    return folder
