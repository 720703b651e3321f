module harness.test/stranger

go 1.21
