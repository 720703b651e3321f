"""Measures the embedded cluster beside kwokctl, and the tap beside no tap; results are saved, never asserted."""
