"""Load and comparisons: how an extender behaves under a scheduler's load, and whether a change made it slower."""
