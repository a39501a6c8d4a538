"""The pages of an evening of many tables: the hall's board, every table, the tournament, people."""
