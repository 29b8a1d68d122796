/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names by the numbers that a trace's records have: dictionaries of texts in which none is there
 * twice (two classes of one name, from two loaders, have one code).
 */
#ifndef CONVERTER_TABLES_TABLE_NAMES_H
#define CONVERTER_TABLES_TABLE_NAMES_H

#include "converter/base/name_index.h"
#include "converter/tables/table.h"

/* What has no name: "?". */
#define NO_NAME_CODE UINT32_MAX

struct table_names {
    struct table_dictionary dictionary;
    struct step_bytes *texts; /* of the dictionary */
    size_t capacity;
    struct name_index index; /* code + 1 by text */
    void **owned;            /* texts that were made here */
    size_t owned_count, owned_capacity;
    uint32_t *codes; /* by number; NO_NAME_CODE: not made yet */
    size_t code_count;
};

/* `numbers`: one more than the largest that may get a name of its own. */
enum step_status table_names_init(struct table_names *names, uint64_t numbers,
                                  struct step_error *error);
void table_names_reset(struct table_names *names);

/* The code of a text, which is borrowed; NO_NAME_CODE: out of memory. */
uint32_t table_names_code(struct table_names *names, struct step_bytes text);
/* The codes of several; false: out of memory. */
bool table_names_codes(struct table_names *names, const char *const *texts, size_t count,
                       uint32_t *codes);
/* The same of a text that is put together of two, with a dot between. */
uint32_t table_names_join(struct table_names *names, struct step_bytes first,
                          struct step_bytes second);

#endif
