"""Parts of pages that are rendered once for everybody who watches, outside of any request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import flask
from jinja2 import Environment

from referee.session.session import Session
from referee.web import views
from referee.web.board_views import Say, plural_text
from referee.web.i18n import texts
from referee.web.streaming.streams import Parts


@dataclass(frozen=True)
class LivePage:
    """A page and its parts that go on while it is looked at; ``values`` is what their templates use, in a language."""

    name: str
    parts: tuple[str, ...]
    values: Callable[[Session, Say], Mapping[str, Any]]

    def render(self, session: Session, environment: Environment, lang: str) -> Parts:
        """The parts as they are now."""
        values = self.values(session, texts.tools(lang)["t"])
        return rendered(environment, lang, self.name, self.parts, values)

    def for_visitor(self, session: Session) -> Parts:
        """The parts as they are now, in the language of this request's visitor."""
        return self.render(session, flask.current_app.jinja_env, flask.g.lang)


def rendered(
    environment: Environment, lang: str, page: str, names: tuple[str, ...], values: Mapping[str, Any]
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
        "opposite": views.opposite_ruling,
        "counted": lambda what, n: plural_text(t, what, n),
    }
    return {
        name: environment.get_template(f"parts/{page}_{name}.html").render(values, **tools).strip() for name in names
    }
