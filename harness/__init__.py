"""Tests and benchmarks Kubernetes scheduler extensions on ephemeral clusters."""

__version__ = "0.1.0"
