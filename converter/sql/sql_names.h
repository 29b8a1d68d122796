/* SPDX-License-Identifier: Apache-2.0 */
/* What a person may have meant by a table or column that is not there. */
#ifndef CONVERTER_SQL_SQL_NAMES_H
#define CONVERTER_SQL_SQL_NAMES_H

#include <stddef.h>

#include "converter/tables/table.h"

/* Of SQLite's message: the nearest name, and the names that there are; `out` is empty where the
 * message is about something else. */
void sql_names_hint(const struct tables *tables, const char *message, const char *statement,
                    char *out, size_t out_size);

#endif
