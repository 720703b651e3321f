"""Formats of a report: a document in, files out. Pure: callers write them."""
