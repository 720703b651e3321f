"""The saved record of one run: written as the run goes, read back for judging. It must never speak to a cluster."""
