"""The subcommands of `referee`, one module an area; `referee.cli` assembles them."""
