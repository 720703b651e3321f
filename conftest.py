"""Loads the harness as a pytest plugin, so that the suite runs from a bare checkout."""

pytest_plugins = ["harness.pytest_plugin"]
