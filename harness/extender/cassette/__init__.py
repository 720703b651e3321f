"""Recorded traffic: the file it is kept in, what is taken out of it, and how it is sent again."""
