"""Where chance enters: the seed of a match, a practice, a game or a tournament, which the pure core is given."""

import secrets

SEED_BITS = 128
"""More than anybody can try, whatever cards or times are known."""


def new_seed() -> int:
    """A seed that nothing public tells anything of: from the operating system's generator, no clock, no id."""
    return secrets.randbits(SEED_BITS)
