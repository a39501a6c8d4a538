"""Four more tower games: the rules of each a pure module in one frame, like the duel's core."""
