"""Carries out a scenario on a cluster with a variant installed, and leaves a record."""
