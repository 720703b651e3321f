module harness.test/bench/filter

go 1.26.0
