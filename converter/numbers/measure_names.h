/* SPDX-License-Identifier: Apache-2.0 */
/* Maps a trace's classes, threads, methods and call sites to rows by name. */
#ifndef CONVERTER_NUMBERS_MEASURE_NAMES_H
#define CONVERTER_NUMBERS_MEASURE_NAMES_H

#include <stddef.h>

#include "converter/heap/heap_sites.h"
#include "converter/numbers/measures.h"
#include "steptrace/value.h"

#define LASTING_NAME_MOST 1024u

/* Writes the stable name of a class, at most `out_size` bytes, and returns the length. */
size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size);
/* The same for a thread: each number becomes `#`. */
size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size);

/* These return a row, or 0 if memory runs out. */
uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id);
uint32_t measure_thread_row(struct measures *measures, const struct trace_names *names,
                            uint32_t id);
/* Returns the rows of all sites, by site number; the caller frees it.  NULL: out of memory. */
uint32_t *measure_sites(struct measures *measures, const struct heap_sites *sites);
/* Writes "class.method" and returns the length. */
size_t measure_method_text(const struct measures *measures, const struct trace_names *names,
                           uint32_t id, char *out, size_t out_size);

/* Truncates the call sites of all runs to their innermost `depth` frames and merges sites that
 * become equal.  Returns false if memory runs out. */
bool measures_cut_sites(struct measures *measures, uint64_t depth);

#endif
