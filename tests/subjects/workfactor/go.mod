module harness.test/workfactor

go 1.21
