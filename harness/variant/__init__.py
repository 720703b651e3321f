"""How scheduling is extended: one module per variant. Each installs itself on a cluster and proves that it is active."""
