"""A tournament over many tables, pure: who meets whom where, what that makes in the standings, who everybody is."""
