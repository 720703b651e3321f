"""Schedulers with out-of-tree plugins, or with changed sources: building them, and reading what they traced."""
