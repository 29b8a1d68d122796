/* SPDX-License-Identifier: Apache-2.0 */
/* Heap dumps of others as input: reported like damage of a trace, chosen by moment, converted. */
#ifndef CONVERTER_VERBS_HEAP_OF_DUMP_H
#define CONVERTER_VERBS_HEAP_OF_DUMP_H

#include "converter/base/standard_input.h"
#include "converter/formats/format_table.h"
#include "converter/formats/memory_infra/memory_infra.h"

/* A file of dumps that a verb reads; standard input ("-") is kept in a file. */
struct heap_of_dump {
    struct memory_infra infra;
    struct seekable_path seekable;
    enum step_status damage; /* CUT or CORRUPT: the file was good up to there */
    struct step_error error; /* of that */
};

/* Faults are reported.  Close is allowed after a failure. */
enum step_status heap_of_dump_open(struct heap_of_dump *import, const char *path);
/* The dumps' heaps at these moments (the Nth dump for `gc:N`), as snapshots with rows; a moment
 * that is not there leaves its snapshot without.  Faults are reported. */
enum step_status heap_of_dump_moments(struct heap_of_dump *import, const char *heap, bool by_class,
                                      const struct heap_moment *moments, size_t moment_count,
                                      struct heap_snapshot *snapshots);
/* Tells what was wrong with the file.  Returns what a verb that has come to `status` ends with:
 * CORRUPT if anything was wrong and the verb has no fault of its own, else `status`. */
enum step_status heap_of_dump_report_damage(const struct heap_of_dump *import,
                                            enum step_status status);
void heap_of_dump_close(struct heap_of_dump *import);

/* Converts dumps into another format of heaps.  Faults are reported. */
enum step_status heap_of_dump_convert(const struct format_job *job);

#endif
