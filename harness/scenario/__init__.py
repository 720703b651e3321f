"""Scenarios: what a run sets up, does and demands, read from YAML and checked before anything is started."""
