"""The pages of a tower game: board, console, a phone page for each seat."""
