"""Judges saved records against their scenarios. Pure: no cluster, no clock, the same record gives the same verdicts."""
