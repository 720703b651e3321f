"""A scheduler written as a controller: it watches pods, picks a node for each, creates the Binding."""
