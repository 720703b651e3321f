"""Measures the embedded cluster beside kwokctl, in one run and interleaved; results are saved, never asserted."""
