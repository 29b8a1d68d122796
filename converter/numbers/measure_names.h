/* SPDX-License-Identifier: Apache-2.0 */
/* A trace's classes, threads, methods and call sites under the names that rows have. */
#ifndef CONVERTER_NUMBERS_MEASURE_NAMES_H
#define CONVERTER_NUMBERS_MEASURE_NAMES_H

#include "converter/heap/heap_sites.h"
#include "converter/numbers/lasting_names.h"
#include "converter/numbers/measures.h"

/* Rows; 0: out of memory. */
uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id);
uint32_t measure_thread_row(struct measures *measures, const struct trace_names *names,
                            uint32_t id);
/* Those of all sites, by their numbers; to be freed.  NULL: out of memory. */
uint32_t *measure_sites(struct measures *measures, const struct heap_sites *sites);
/* "class.method"; returns the length. */
size_t measure_method_text(const struct measures *measures, const struct trace_names *names,
                           uint32_t id, char *out, size_t out_size);

/* Cuts the call sites of all runs to their innermost `depth` frames; sites that are then alike
 * become one.  False: out of memory. */
bool measures_cut_sites(struct measures *measures, uint64_t depth);

#endif
