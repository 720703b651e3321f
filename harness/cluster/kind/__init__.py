"""Clusters of kind: real kubelets in containers, created through pytest-kind."""
