"""A cluster of the user's own, borrowed: own namespaces, and nothing else of it seen or touched unless allowed."""
