/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts at each allocation site which objects were ever stored, which got a longer array in place
 * of a shorter one, and how many elements of the longest were used, in one pass over the references
 * of a trace.  Memory is some 80 bytes for each living object, and 32 for each of its fields that
 * has an array.
 */
#ifndef CONVERTER_SITES_SITE_STORES_H
#define CONVERTER_SITES_SITE_STORES_H

#include "converter/graph/graph_source.h"
#include "converter/sites/site_lives.h"

/* Returns END, without an error, if the trace has no stores of references. */
enum step_status site_stores_count(struct step_reader *reader, struct site_lives *lives,
                                   struct step_error *error);

#endif
