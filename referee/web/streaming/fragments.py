"""Parts of pages that are rendered once for everybody who watches, outside of any request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment

from cards.sentences import say
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

    Templates have ``t`` for texts of ``lang``, ``num`` for a number as it writes them,
    ``say`` for a verdict's reason or an alarm's text,
    ``why`` for how a duel ended, ``opposite`` for the ruling that would change it,
    ``counted`` for so many of a thing, and ``values``.
    """

    def t(key: str, /, **filled: object) -> str:
        return texts.translate(lang, key, **filled)

    tools = {
        "t": t,
        "num": lambda value, digits=None: texts.number(lang, value, digits),
        "lang": lang,
        "why": lambda duel: views.why(duel, t),
        "opposite": views.opposite,
        "counted": lambda what, n: counted(t, what, n),
        "say": lambda told: say(lang, told),
    }
    return {
        name: environment.get_template(f"parts/{page}_{name}.html").render(values, **tools).strip() for name in names
    }
