module harness.test/trace

go 1.25.0
