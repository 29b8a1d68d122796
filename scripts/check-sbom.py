#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-sbom.py SBOM ELF...: does the list of parts name, with a version, each library that these files link?"""
import json
import re
import subprocess
import sys

NAMES = {'z': 'zlib', 'lzma': 'liblzma', 'dw': 'libdw'}  # where the part is not named as the library
OF_THE_SYSTEM = {'c', 'm', 'dl', 'pthread', 'rt', 'gcc_s', 'steptrace'}


def linked(path):
    told = subprocess.run(['readelf', '-d', path], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r'NEEDED.*\[lib([^\].]*)\.so', told)) - OF_THE_SYSTEM


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        parts = {part['name']: part['versionInfo'] for part in json.load(file)['packages']}
    wanted = set().union(*(linked(path) for path in sys.argv[2:]))
    faults = [f'{library}: not in the list' for library in sorted(wanted) if NAMES.get(library, library) not in parts]
    faults += [f'{name}: without a version' for name, version in parts.items() if not re.match(r'\d+\.', version)]
    if not wanted:
        faults.append('no library is linked')
    print('\n'.join(faults) or f'{len(wanted)} libraries, {len(parts)} parts')
    return 1 if faults else 0


sys.exit(main())
