"""Where the API server comes from: one module per cluster provider. Owns processes, and ends all it started."""
