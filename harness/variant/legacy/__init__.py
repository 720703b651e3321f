"""Turns scheduler configurations of any age into KubeSchedulerConfiguration v1. Pure: it reads no file."""

from harness.variant.legacy.base import Change, Source, Translation
from harness.variant.legacy.translation import translate

__all__ = ["Change", "Source", "Translation", "translate"]
