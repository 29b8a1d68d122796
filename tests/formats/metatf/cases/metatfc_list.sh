# SPDX-License-Identifier: Apache-2.0
# --list: sections, records with their tags, fields with their numbers, widths and interpretations.
metatfc() { "${STEPC%stepc}metatfc" "$@"; }
metatfc --list "$data/../../formats/metatf/corpus.dtd"
metatfc --list "$data/../../formats/metatf/appendix_c.dtd" | sed -n '/ realloc/,/ free/p'
metatfc --list none.dtd
echo $?
metatfc --list "$data/../../formats/metatf/corpus.dtd" >/dev/full
echo $?
