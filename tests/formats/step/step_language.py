# SPDX-License-Identifier: Apache-2.0
"""STEP-DL as docs/formats/step-dl.md has it: what a reader of traces needs of a definition."""
import re

TOKEN = re.compile(r'(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*([A-Za-z_]\w*|"(?:\\.|[^"\\])*"|[{}\[\];,<>:.!~]|$)', re.S)


class Field:
    def __init__(self, name, kind, depth, declared):
        self.name, self.kind, self.depth, self.declared = name, kind, depth, declared
        self.attributes, self.parts, self.modified = [], {}, False

    def copy(self):
        other = Field(self.name, self.kind, self.depth, self.declared)
        other.attributes, other.modified = list(self.attributes), self.modified
        other.parts = {path: list(items) for path, items in self.parts.items()}
        return other

    def rules(self, path='', group='encoding'):
        """(key, value) of the attributes of the value, or of a part of it."""
        items = self.parts.get(path, self.attributes) if path else self.attributes
        return [tuple((rule.strip() + '=').split('=', 2)[:2]) for name, value in items if name == group
                for rule in value.split(',')]

    def innermost(self, group='encoding'):
        return self.rules('.'.join(['element'] * self.depth), group)

    def is_identifier(self):
        return any(key == 'identifier' for key, _ in self.innermost())

    def is_variant(self):
        types = [value for key, value in self.innermost() if key == 'type']
        return not self.is_identifier() and bool(types) and types[-1] in ('variable', 'default')

    def is_unsigned(self):
        properties = {key for key, _ in self.innermost('property')}
        return bool(properties & {'unsigned', 'address', 'time', 'thread'}) or \
            any(key == 'unsigned' for key, _ in self.innermost())


class Record:
    def __init__(self, name, package):
        self.name, self.package = name, package
        self.parent_path = self.parent = self.number = None
        self.attributes, self.own, self.modifiers, self.fields = [], [], [], []

    def extends(self, other):
        return self is other or (self.parent is not None and self.parent.extends(other))


class Parser:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            found = TOKEN.match(text, at)
            at = found.end()
            self.tokens.append(found.group(1))
        self.tokens.append('')
        self.at, self.records = 0, []

    def peek(self):
        return self.tokens[self.at]

    def take(self, wanted=None):
        token = self.tokens[self.at]
        assert wanted in (None, token), f'{token}, not {wanted}'
        self.at += 1
        return token

    def path(self):
        path = self.take()
        while self.peek() == '.':
            path += self.take() + self.take()
        return path

    def string(self):
        return re.sub(r'\\(.)', r'\1', self.take()[1:-1], flags=re.S)

    def is_string(self):
        return self.peek().startswith('"')

    def attribute_list(self):
        items = []
        while self.peek() == '<':
            self.take()
            group = self.take()
            self.take(':')
            items.append((group, self.string()))
            self.take('>')
        return items

    def definitions(self, package):
        while self.peek() not in ('', '}'):
            if self.take() == 'package':
                inner = self.path()
                self.take('{')
                self.definitions(package + inner.split('.'))
                self.take('}')
            else:
                self.record(package)

    def record(self, package):
        record = Record('.'.join(package + [self.take()]), package)
        if self.is_string():
            self.take()
        if self.peek() == 'extends':
            self.take()
            record.inherits_attributes = self.peek() != '!'
            if self.peek() == '!':
                self.take()
            record.parent_path = self.path()
        self.records.append(record)
        self.take('{')
        if self.is_string():
            self.take()
        while self.peek() != '}':
            if self.peek() == '<':
                record.attributes += self.attribute_list()
            elif self.peek() in '~!':
                record.modifiers.append((self.take(), self.path(), self.attribute_list()))
                self.take(';')
            else:
                self.field_list(record)
        self.take('}')

    def field_list(self, record):
        kind, levels = self.path(), []
        levels.append(self.attribute_list())
        while self.peek() == '[':
            self.take()
            self.take(']')
            levels.append(self.attribute_list())
        while True:
            field = Field(self.take(), kind, len(levels) - 1, record)
            if self.is_string():
                self.take()
            field.attributes = levels[-1] + self.attribute_list()
            for level, items in enumerate(reversed(levels[:-1]), 1):
                if items:
                    field.parts['.'.join(['element'] * level)] = list(items)
            record.own.append(field)
            if self.take() == ';':
                return


def find(records, package, path, other_than=None):
    for length in range(len(package), -1, -1):
        record = records.get('.'.join(package[:length] + [path]))
        if record is not None and record is not other_than:
            return record
    raise KeyError(path)


def modify(field, path, replaces, items):
    """Adds attributes to the field or to a part, or puts them in the place of those of their groups."""
    if not path:
        kept = field.attributes
    elif path in field.parts:
        kept = field.parts[path]
    else:
        kept = field.attributes if set(path.split('.')) == {'element'} else []
    if replaces:
        kept = [item for item in kept if item[0] not in {group for group, _ in items}]
    if path:
        field.parts[path] = kept + items
    else:
        field.attributes = kept + items


def parse(text):
    """The records of a definition by number: a parent before those that extend it."""
    parser = Parser(text)
    parser.definitions([])
    names = {record.name: record for record in parser.records}
    numbered = []

    def settle(record):
        if record.number is not None:
            return
        if record.parent_path is not None:
            record.parent = find(names, record.package, record.parent_path, record)
            settle(record.parent)
            record.fields = [field.copy() for field in record.parent.fields]
        record.number = len(numbered)
        numbered.append(record)
        for field in record.own:
            if field.kind not in ('int', 'string', 'data'):
                field.kind = find(names, record.package, field.kind)
            record.fields.append(field)
        for sign, path, items in record.modifiers:
            name, _, part = path.partition('.')
            field = next(field for field in record.fields if field.name == name)
            field.modified = field.modified or field.declared is not record
            modify(field, part, sign == '!', items)

    for record in parser.records:
        settle(record)
    return numbered
