"""The description of the JSON API, OpenAPI 3.1, made from its routes, what they answer and the bodies of the commands.

A route says what it answers by ``@answers``; its docstring is the summary, ``@public`` and its method say what a caller
needs. Nothing is written down twice, so the description cannot grow old.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeVar

import flask
import yaml
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from referee.web.answers import ErrorAnswer
from referee.web.security import READING_METHODS

View = TypeVar("View", bound=Callable[..., Any])
Mode = Literal["validation", "serialization"]
ABOUT = """Schedule, state and results of a duel match, and the referee's commands.
Reading is open to all but /api/snapshot and /api/commands. Whatever changes something needs, where pin_needed is true,
a log-in, which lives in the session cookie.
"""
REFERENCE = "#/components/schemas/{model}"
NOT_REFEREE = {401: "Not the referee"}
FOREIGN = {403: "From another site"}
BAD_BODY = {
    400: "The body is not a JSON object",
    413: "The body is too large",
    415: "The body is not declared as JSON",
    422: "The body does not fit",
}
COMMON = NOT_REFEREE | FOREIGN | BAD_BODY
"""Refusals that many routes share, and the description says once."""


@dataclass(frozen=True)
class Answers:
    """What a route answers, None for this description itself, and as what; why it may refuse, by status; the body it
    takes, or one for each name in its path; the headers that it heeds, with what they say."""

    model: type[BaseModel] | None
    refusals: Mapping[int, str]
    bodies: Mapping[str, type[BaseModel]]
    media: str
    headers: Mapping[str, str]


def answers(
    model: type[BaseModel] | None,
    refusals: Mapping[int, str] | None = None,
    bodies: Mapping[str, type[BaseModel]] | type[BaseModel] | None = None,
    media: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Callable[[View], View]:
    """Describe a route: see ``Answers``. What every route refuses alike need not be said."""

    def described(view: View) -> View:
        named = {"": bodies} if isinstance(bodies, type) else bodies or {}
        view.answers = Answers(model, refusals or {}, named, media, headers or {})  # type: ignore[attr-defined]
        return view

    return described


def document(app: flask.Flask) -> dict[str, Any]:
    """The description of the app's routes under /api, as JSON."""
    paths: dict[str, dict[str, Any]] = {}
    models: dict[type[BaseModel], Mode] = {ErrorAnswer: "validation"}
    for operation in operations(app):
        paths.setdefault(operation.path, {})[operation.method.lower()] = operation.described()
        models |= {body: "validation" for body in [operation.body] if body}
        models |= {answer: "serialization" for answer in [operation.view.answers.model] if answer}
    schemas = models_json_schema(list(models.items()), ref_template=REFERENCE)[1]["$defs"]
    cookie = {"type": "apiKey", "in": "cookie", "name": "referee-<instance>"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "referee", "version": "1", "description": ABOUT},
        "components": {
            "securitySchemes": {"referee": cookie},
            "responses": {f"Refused{status}": _refused(text) for status, text in COMMON.items()},
            "schemas": schemas,
        },
        "paths": paths,
    }


def as_yaml(app: flask.Flask) -> str:
    """The same as YAML."""
    plain = json.loads(json.dumps(document(app)))  # nothing is shared in it, so YAML needs no anchors
    return yaml.dump(plain, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)


@dataclass(frozen=True)
class Operation:
    """One method of one path; ``name`` is the part of the path that chose the ``body``, empty where there is one."""

    path: str
    method: str
    view: Any
    name: str = ""

    @property
    def body(self) -> type[BaseModel] | None:
        """What it is sent."""
        model: type[BaseModel] | None = self.view.answers.bodies.get(self.name)
        return model

    def described(self) -> dict[str, Any]:
        """The operation object of OpenAPI."""
        declared: Answers = self.view.answers
        about = (self.name and self.body and self.body.__doc__) or self.view.__doc__
        row: dict[str, Any] = {"operationId": _camel(self.name or self.view.__name__)}
        summary = " ".join(about.split()).partition(". ")[0].removesuffix(".")
        blank = {"in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        parameters = [{"name": name, **blank} for name in re.findall(r"{(\w+)}", self.path)]
        parameters += [
            {"name": name, "in": "header", "description": said, "schema": {"type": "string"}}
            for name, said in declared.headers.items()
        ]
        row |= {"summary": summary, "parameters": parameters}
        refusals: dict[int, str] = {}
        if not getattr(self.view, "is_public", False):
            row["security"], refusals = [{"referee": []}], NOT_REFEREE
        if self.method not in READING_METHODS:
            refusals = refusals | FOREIGN
        if self.body:
            row["requestBody"], refusals = {"required": True, "content": _json(self.body)}, refusals | BAD_BODY
        done = {"application/yaml": {"schema": {}}} if declared.model is None else _json(declared.model, declared.media)
        row["responses"] = {"200": {"description": "Done", "content": done}}
        for status, text in sorted((refusals | dict(declared.refusals)).items()):
            refusal = (
                {"$ref": f"#/components/responses/Refused{status}"} if COMMON.get(status) == text else _refused(text)
            )
            row["responses"][str(status)] = refusal
        return row


def operations(app: flask.Flask) -> Iterator[Operation]:
    """Every operation of the API; a route that takes a body by its name is one for each of them."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/api/"):
            view: Any = app.view_functions[rule.endpoint]
            methods = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
            for method, name in product(methods, view.answers.bodies or ("",)):
                path = re.sub(r"<(?:\w+:)?(\w+)>", name or r"{\1}", rule.rule)
                yield Operation(path, method, view, name)


def _json(model: type[BaseModel], media: str = "application/json") -> dict[str, Any]:
    return {media: {"schema": {"$ref": REFERENCE.format(model=model.__name__)}}}


def _refused(text: str) -> dict[str, Any]:
    return {"description": text, "content": _json(ErrorAnswer)}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first[:1].lower() + first[1:] + "".join(map(str.capitalize, rest))
