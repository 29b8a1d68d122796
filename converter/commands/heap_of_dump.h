/* SPDX-License-Identifier: Apache-2.0 */
/* Reads heap dumps of other tools: reports damage, selects moments, converts. */
#ifndef CONVERTER_COMMANDS_HEAP_OF_DUMP_H
#define CONVERTER_COMMANDS_HEAP_OF_DUMP_H

#include "converter/files/standard_input.h"
#include "converter/formats/format_table.h"
#include "converter/formats/memory_infra/memory_infra.h"

/* An input file of dumps; standard input ("-") is copied to a file. */
struct heap_of_dump {
    struct memory_infra infra;
    struct seekable_path seekable;
    enum step_status damage; /* CUT or CORRUPT: the file is intact up to there */
    struct step_error error; /* error of the damage */
};

/* Reports errors.  Close is allowed after a failure. */
enum step_status heap_of_dump_open(struct heap_of_dump *import, const char *path);
/* Reads the heaps at these moments (the Nth dump for `gc:N`) as snapshots with rows.  A snapshot
 * stays without rows if its moment does not exist.  Reports errors. */
enum step_status heap_of_dump_moments(struct heap_of_dump *import, const char *heap, bool by_class,
                                      const struct heap_moment *moments, size_t moment_count,
                                      struct heap_snapshot *snapshots);
/* Reports damage of the file.  Returns the final status of a verb with `status`: CORRUPT if the
 * file was damaged and the verb has no error of its own, else `status`. */
enum step_status heap_of_dump_report_damage(const struct heap_of_dump *import,
                                            enum step_status status);
void heap_of_dump_close(struct heap_of_dump *import);

/* Converts dumps to another heap format.  Reports errors. */
enum step_status heap_of_dump_convert(const struct format_job *job);

#endif
