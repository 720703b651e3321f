"""Chapters of a report, made of records: one module each. Pure."""
