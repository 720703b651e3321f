"""How scheduling is extended: one module per variant. Each installs itself and proves that it is active."""
