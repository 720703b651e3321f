module harness.test/trace

go 1.24
