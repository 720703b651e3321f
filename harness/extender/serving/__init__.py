"""The harness's own server for extenders written in Python."""
