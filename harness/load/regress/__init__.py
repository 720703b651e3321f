"""Decides whether one extender is slower than another: both alive, asked the same in turns, compared pair by pair."""
