"""Right, wrong and undecided over folders with truth."""
