"""Scenarios: what a run sets up, does and demands, read from YAML and checked before anything is started."""

from harness.scenario.load import ScenarioFile, load
from harness.scenario.model import Scenario

__all__ = ["Scenario", "ScenarioFile", "load"]
