"""The extender under test: how it is started, what is said on the wire, the tap in between, and the cassette of it."""
