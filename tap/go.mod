module harness.test/tap

go 1.26.0

godebug default=go1.26

require github.com/klauspost/compress v1.19.0
