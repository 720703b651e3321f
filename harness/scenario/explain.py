"""Turns pydantic's errors into sentences for the author of a scenario: the place, what was seen, what is accepted."""

import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harness.scenario.fields import Model
from harness.scenario.problems import Path
from harness.scenario.words import did_you_mean, listed, shown

TAG_KEYS = {"steps": "op", "expect": "kind"}
"""The lists whose items are told apart by a key; pydantic puts that key's value into the place of an error."""

_TYPES = {
    "string_type": "text expected; put it in quotes",
    "string_unicode": "text of valid characters expected",
    "int_type": "a whole number expected",
    "float_type": "a number expected",
    "bool_type": "true or false expected",
    "dict_type": "a mapping expected",
    "model_type": "a mapping expected",
    "model_attributes_type": "a mapping expected",
    "tuple_type": "a list expected",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
}


def explain(error: ValidationError, model: type[Model], data: Any) -> list[tuple[Path, str]]:
    """Return every fault that pydantic found in the data of a model, as a path into the data and a message."""
    faults = error.errors(include_url=False)
    # A list whose items are all wrong is also "too short" to pydantic; its author knows better.
    told = [fault for fault in faults if not (fault["type"] == "too_short" and fault["input"])]
    return [_explained(fault, model, data) for fault in told]


def accepted(model: type[Model]) -> list[str]:
    """Return the keys a model accepts in YAML, but for the one that names its kind."""
    tag_key = _tag(model)[0]
    return [str(field.alias) for name, field in model.model_fields.items() if name != tag_key]


def _explained(fault: ErrorDetails, model: type[Model], data: Any) -> tuple[Path, str]:
    kind = fault["type"]
    loc = tuple(part for part in fault["loc"] if part != "[key]")
    path = loc[:2] + loc[3:] if loc and loc[0] in TAG_KEYS else loc
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _unknown_tag(path, model, data)
    if kind in ("extra_forbidden", "missing"):
        owner = _at(model, loc[:-1])
        name = _tag(owner)[1] or owner.noun
        if kind == "missing":
            return path, f"missing; {name} needs it"
        word, fields = str(path[-1]), accepted(owner)
        return path, f"unknown field{did_you_mean(word, fields)} {name} accepts: {listed(fields)}"
    return path, _value_message(fault)


def _unknown_tag(path: Path, model: type[Model], data: Any) -> tuple[Path, str]:
    key = TAG_KEYS[str(path[0])]
    noun = "step" if key == "op" else "expectation"
    known = [_tag(member)[1] for member in get_args(_bare(_at(model, path)))]
    item = data[path[0]][path[1]]
    if key not in item:
        return (*path, key), f"missing; it says which {noun} this is; known: {listed(known)}"
    hint = did_you_mean(str(item[key]), known)
    return (*path, key), f"unknown {noun} {shown(item[key])}{hint} known: {listed(known)}"


def _value_message(fault: ErrorDetails) -> str:
    kind, seen, context = fault["type"], shown(fault["input"]), fault.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind in _TYPES:
        return f"{seen} seen, {_TYPES[kind]}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{seen} seen, {words} {context[bound]:g} expected"
    if kind == "literal_error":
        choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        return f"{seen} seen{did_you_mean(str(fault['input']), choices)} expected one of: {listed(choices)}"
    if kind == "string_pattern_mismatch":
        return f"{seen} seen, {_pattern_words(str(context['pattern']))} expected"
    if kind == "too_short":
        return "empty, at least one entry expected"
    return f"{seen} seen: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _pattern_words(pattern: str) -> str:
    if pattern.startswith("^[a-z0-9]"):
        return 'lower case letters, digits and "-"'
    if pattern.startswith("^[A-Za-z_]"):
        return 'a name of letters, digits and "_"'
    return "a kind such as Pod or Deployment"


def _tag(model: type[Model]) -> tuple[str, str]:
    """Return the key that tells a step or expectation apart and its value; two empty words for other models."""
    for key in TAG_KEYS.values():
        field = model.model_fields.get(key)
        if field is not None and len(get_args(field.annotation)) == 1:
            return key, str(field.default)
    return "", ""


def _at(annotation: Any, loc: tuple[str | int, ...]) -> Any:
    """Return the type that stands at a place of an error below a type."""
    for part in loc:
        bare = _bare(annotation)
        if isinstance(bare, type) and issubclass(bare, Model):
            annotation = next(f.annotation for f in bare.model_fields.values() if f.alias == part)
        elif get_origin(bare) is dict:
            annotation = get_args(bare)[1]
        elif get_origin(bare) is tuple:
            annotation = get_args(bare)[0]
        else:
            annotation = next(member for member in get_args(bare) if _tag(member)[1] == part)
    return _bare(annotation)


def _bare(annotation: Any) -> Any:
    """Return a type without its Annotated and its `| None`."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not types.NoneType]
        if len(members) == 1:
            return _bare(members[0])
    return annotation
