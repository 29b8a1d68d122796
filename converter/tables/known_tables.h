/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the tables of a trace. */
#ifndef CONVERTER_TABLES_KNOWN_TABLES_H
#define CONVERTER_TABLES_KNOWN_TABLES_H

#include "converter/tables/tables_trace.h"

/* Adds a table.  Copies its name, columns and cells. */
enum step_status tables_add(struct tables *tables, const struct table_definition *definition,
                            struct step_error *error);

/* Add the tables of each kind of trace. */
enum step_status java_tables_add(struct tables *tables, struct step_error *error);
enum step_status heap_tables_add(struct tables *tables, struct step_error *error);
enum step_status record_tables_add(struct tables *tables, struct step_error *error);

#endif
