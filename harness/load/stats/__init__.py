"""The statistics of comparisons: pure functions of arrays, tested with millions of made-up calls."""
