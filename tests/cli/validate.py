#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""validate.py SCHEMA [--lines]: is standard input as the JSON schema says?  Knows what docs/schemas uses
of JSON Schema, and refuses a schema that uses more.
"""
import json
import sys

KNOWN = {"$schema", "$id", "$comment", "title", "description", "type", "properties", "required",
         "additionalProperties", "items", "enum", "minimum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}


def is_of(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def faults(schema, value, place):
    if not schema.keys() <= KNOWN:
        yield f"{place}: the schema has {schema.keys() - KNOWN}"
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(is_of(value, name) for name in wanted):
        yield f"{place}: {value!r} is none of {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and isinstance(value, (int, float)) and value < schema["minimum"]:
        yield f"{place}: {value} is less than {schema['minimum']}"
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from (f"{place}: no {key}" for key in schema.get("required", []) if key not in value)
        for key, inner in value.items():
            if key in properties:
                yield from faults(properties[key], inner, f"{place}.{key}")
            elif more is False:
                yield f"{place}: {key} is not in the schema"
            elif isinstance(more, dict):
                yield from faults(more, inner, f"{place}.{key}")
    if isinstance(value, list):
        for i, inner in enumerate(value):
            yield from faults(schema.get("items", {}), inner, f"{place}[{i}]")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    texts = sys.stdin.read().splitlines() if "--lines" in sys.argv else [sys.stdin.read()]
    found = [fault for text in texts for fault in faults(schema, json.loads(text), "$")]
    print(*(found or ["valid"]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
