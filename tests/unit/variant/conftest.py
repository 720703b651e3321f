"""The tap's program, for tests that run real extenders."""

from tests.unit.extender.conftest import built_tap, cache_with_tap

__all__ = ["built_tap", "cache_with_tap"]
