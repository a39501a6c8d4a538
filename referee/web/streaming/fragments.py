"""Parts of pages that are rendered once for everybody who watches, outside of any request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment

from referee.web import views
from referee.web.board_views import counted
from referee.web.i18n import texts
from referee.web.ports import WebSession
from referee.web.streaming.streams import Parts


def rendered(
    session: WebSession,
    environment: Environment,
    lang: str,
    page: str,
    names: tuple[str, ...],
    values: Mapping[str, Any],
) -> Parts:
    """The parts ``names`` of ``page``, each from its template ``parts/<page>_<name>.html``.

    Templates have ``texts.tools`` of ``lang``,
    ``why`` for how a duel ended, ``opposite`` for the ruling that would change it,
    ``counted`` for so many of a thing, and ``values``.
    """

    tools = texts.tools(lang)
    t = tools["t"]
    tools |= {
        "why": lambda duel: views.why(duel, t),
        "opposite": views.opposite,
        "counted": lambda what, n: counted(t, what, n),
    }
    return {
        name: environment.get_template(f"parts/{page}_{name}.html").render(values, **tools).strip() for name in names
    }
