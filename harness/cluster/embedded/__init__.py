"""A real control plane on loopback, without Docker or root: upstream's parts compiled into one binary."""
