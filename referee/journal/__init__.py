"""The record: an append-only chain of events, how a damaged one is recovered, what is exported from it."""
