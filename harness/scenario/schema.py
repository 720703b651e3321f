"""Generates the JSON Schema of scenario files from the models, so that editors complete what the loader accepts."""

import json
from typing import Any

from harness.scenario.model import File

TITLE = "Scenario of the scheduler harness"
PARAMETER = "#/$defs/Parameter"

_UNCHANGING = ("name", "parameters", "sizes", "on")
_SCALARS = ("integer", "number", "boolean")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file."""
    generated = File.model_json_schema(by_alias=True, mode="validation")
    definitions = {name: _model(part) for name, part in generated.pop("$defs").items()}
    # Who gives parameters their values cannot refer to them.
    for name in ("Size", "Difference"):
        definitions[name] = _model(File.model_json_schema()["$defs"][name], parameters=False)
    definitions["Parameter"] = {
        "description": "A parameter as a whole value, such as $replicas.",
        "type": "string",
        "pattern": r"^\$[A-Za-z_][A-Za-z0-9_]*$",
    }
    top = _model(generated)
    for name in _UNCHANGING:
        top["properties"][name] = _plain(generated["properties"][name])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": TITLE}
    return head | {key: value for key, value in top.items() if key != "title"} | {"$defs": definitions}


def text() -> str:
    """Return the schema as it is committed."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _model(part: dict[str, Any], *, parameters: bool = True) -> dict[str, Any]:
    """Return a model's schema with parameters allowed, and with what tells it apart required."""
    properties = {name: _property(value, parameters=parameters) for name, value in part.get("properties", {}).items()}
    tags = [name for name, value in properties.items() if "const" in value]
    required = [*tags, *(name for name in part.get("required", []) if name not in tags)]
    changed = {key: value for key, value in part.items() if key not in ("properties", "required")}
    changed |= {"properties": properties} | ({"required": required} if required else {})
    return {"anyOf": [{"type": "integer", "minimum": 0}, changed]} if changed.get("title") == "Range" else changed


def _property(value: dict[str, Any], *, parameters: bool) -> dict[str, Any]:
    value = _plain(value)
    return _or_parameter(value) if parameters else value


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """Return a property's schema without what only Python knows: titles, and None for "not given"."""
    value = {key: part for key, part in value.items() if key != "title"}
    if "const" in value:
        value.pop("default", None)
    if isinstance(value.get("default"), dict):
        value["default"] = {key: part for key, part in value["default"].items() if part is not None}
    if "default" in value and value["default"] is None:
        del value["default"]
        kept = [part for part in value.get("anyOf", []) if part != {"type": "null"}]
        if "anyOf" in value and len(kept) == 1:
            value = kept[0] | {key: part for key, part in value.items() if key != "anyOf"}
        elif "anyOf" in value:
            value["anyOf"] = kept
    return value


def _or_parameter(value: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also accepts a parameter, wherever text would not be accepted anyway."""
    if "const" in value or value == {"type": "string"}:
        return value
    if "oneOf" in value:
        # A step or an expectation as a whole: one more choice, so that editors still complete the others.
        return value | {"oneOf": [*value["oneOf"], {"$ref": PARAMETER}]}
    if "items" in value:
        value = value | {"items": _or_parameter(value["items"])}
    if isinstance(value.get("additionalProperties"), dict):
        value = value | {"additionalProperties": _or_parameter(value["additionalProperties"])}
    narrow = value.get("type") in (*_SCALARS, "array") or "enum" in value or "pattern" in value or _is_range(value)
    if not narrow or "oneOf" in value.get("items", {}) or "$ref" in value.get("items", {}):
        return value
    about = {key: value[key] for key in ("description", "default") if key in value}
    rest = {key: part for key, part in value.items() if key not in about}
    return about | {"anyOf": [rest, {"$ref": PARAMETER}]}


def _is_range(value: dict[str, Any]) -> bool:
    return value.get("$ref") == "#/$defs/Range"
