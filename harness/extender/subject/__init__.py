"""What a user brings: read from a word, started, waited for, and asked what it can do."""
