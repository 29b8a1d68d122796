#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-sbom.py SBOM ELF...: is the list of parts what SPDX 2.3 asks for, and does it name, with a version, each library that
these files link?  The rules are those of the JSON schema that a reader of the list applies, for the parts that it has."""
import json
import re
import subprocess
import sys

NAMES = {'z': 'zlib', 'lzma': 'liblzma', 'dw': 'libdw'}  # where the part is not named as the library
OF_THE_SYSTEM = {'c', 'm', 'dl', 'pthread', 'rt', 'gcc_s', 'steptrace'}


def linked(path):
    told = subprocess.run(['readelf', '-d', path], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r'NEEDED.*\[lib([^\].]*)\.so', told)) - OF_THE_SYSTEM


ID = r'SPDXRef-[A-Za-z0-9.-]+'
LICENCE = r'(NOASSERTION|NONE|[A-Za-z0-9.+-]+( (OR|AND) [A-Za-z0-9.+-]+)*)'
RELATIONSHIPS = {'DESCRIBES', 'STATIC_LINK', 'DYNAMIC_LINK'}  # of those that SPDX has
DOCUMENT = {'spdxVersion': r'SPDX-2\.3', 'dataLicense': r'CC0-1\.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': r'\S+',
            'documentNamespace': r'[a-z][a-z0-9+.-]*:[^#\s]+'}
PACKAGE = {'SPDXID': ID, 'name': r'\S+', 'versionInfo': r'\S+', 'downloadLocation': r'NOASSERTION|NONE|\S+:\S+',
           'licenseDeclared': LICENCE}
CREATED = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'
CREATOR = r'(Person|Organization|Tool): \S.*'


def misfits(thing, rules, where):
    return [f'{where}: {key} is {thing.get(key)!r}' for key, rule in rules.items()
            if not (isinstance(thing.get(key), str) and re.fullmatch(rule, thing[key]))]


def structure_faults(sbom):
    faults = misfits(sbom, DOCUMENT, 'document')
    info, packages, relations = sbom['creationInfo'], sbom['packages'], sbom['relationships']
    faults += misfits(info, {'created': CREATED}, 'creationInfo')
    faults += [f'creator: {creator}' for creator in info['creators'] or [''] if not re.fullmatch(CREATOR, creator)]
    for package in packages:
        faults += misfits(package, PACKAGE, package.get('name'))
        faults += [] if package.get('filesAnalyzed') is False else [f"{package.get('name')}: its files are not in the list"]
    ids = ['SPDXRef-DOCUMENT', *(package['SPDXID'] for package in packages)]
    faults += [f'{name}: twice' for name in sorted({name for name in ids if ids.count(name) > 1})]
    for one in relations:
        faults += [f'{one}: no such part' for key in ('spdxElementId', 'relatedSpdxElement') if one[key] not in ids]
        faults += [] if one['relationshipType'] in RELATIONSHIPS else [f'{one}: no such relationship']
    related = {one['relatedSpdxElement'] for one in relations}
    return faults + [f'{name}: nothing says what it is for' for name in ids[1:] if name not in related]


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        sbom = json.load(file)
    parts = {part['name']: part['versionInfo'] for part in sbom['packages']}
    wanted = set().union(*(linked(path) for path in sys.argv[2:]))
    faults = structure_faults(sbom)
    faults += [f'{library}: not in the list' for library in sorted(wanted) if NAMES.get(library, library) not in parts]
    faults += [f'{name}: without a version' for name, version in parts.items() if not re.match(r'\d+\.', version)]
    if not wanted:
        faults.append('no library is linked')
    print('\n'.join(faults) or f'{len(wanted)} libraries, {len(parts)} parts')
    return 1 if faults else 0


sys.exit(main())
