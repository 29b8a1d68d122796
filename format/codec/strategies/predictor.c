/* SPDX-License-Identifier: Apache-2.0 */
/* Storage of prediction tables, which blocks share. */
#include "format/codec/strategies/predictor.h"

#include <stdlib.h>
#include <string.h>

bool step_table_start(struct step_table *table, unsigned bits)
{
    size_t size = (size_t) 1 << bits;
    table->bits = bits;
    if (size > table->capacity) {
        free(table->entries);
        table->entries = calloc(size, sizeof *table->entries);
        table->capacity = table->entries != NULL ? size : 0;
        return table->entries != NULL;
    }
    memset(table->entries, 0, size * sizeof *table->entries);
    return true;
}

void step_table_reset(struct step_table *table)
{
    free(table->entries);
    *table = (struct step_table){0};
}
