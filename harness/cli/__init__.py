"""The command line. Each module holds the commands of one theme; this is the only place that prints results."""
