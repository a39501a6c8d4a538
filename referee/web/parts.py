"""Parts of pages that are rendered once for everybody who watches, outside of any request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment

from referee.web import texts
from referee.web.streams import Parts


def rendered(environment: Environment, lang: str, page: str, names: tuple[str, ...],
             values: Mapping[str, Any]) -> Parts:
    """The parts ``names`` of ``page``, from ``parts/<page>_<name>.html``, with ``t`` for texts of ``lang``."""
    def t(key: str, /, **filled: object) -> str:
        return texts.translate(lang, key, **filled)

    return {name: environment.get_template(f"parts/{page}_{name}.html").render(values, t=t, lang=lang).strip()
            for name in names}
