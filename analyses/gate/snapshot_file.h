/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot: a text file that is kept with a program's source and reviewed as such.  A line says
 * what a phase or a test allocates, and on which JDKs (docs/gates.md):
 *
 *     com.acme.ShopTest.checkout [17 25]: 12 objects, 600 bytes: 10 com.acme.Item, 2 byte[]
 *
 * The JUnit extension reads and writes it, too (java/src/steptrace/junit/Snapshot.java).
 */
#ifndef ANALYSES_GATE_SNAPSHOT_FILE_H
#define ANALYSES_GATE_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "steptrace/status.h"

/* JDKs of a line at most; more than there are. */
#define SNAPSHOT_JDKS_MOST 64u

struct snapshot_line {
    const char *name; /* into the file's text, or borrowed from who added the line */
    const char *text; /* "12 objects, 600 bytes: 10 com.acme.Item, 2 byte[]" */
    uint64_t objects, bytes;
    uint64_t number;                   /* of the line, from 1; 0: it is new */
    unsigned jdks[SNAPSHOT_JDKS_MOST]; /* sorted */
    unsigned jdk_count;
};

struct snapshot_file {
    const char *path; /* borrowed */
    bool exists;
    struct stat about;           /* of the file that was read */
    char *data;                  /* its text, cut into lines */
    char *head;                  /* the comments that it begins with; NULL: none */
    struct snapshot_line *lines; /* sorted by name, then by JDK */
    size_t count, capacity;
    size_t sorted; /* the lines behind them were added since */
};

/* Reads the file, if it exists: a regular file of at most 64 MiB.  Returns CORRUPT for a line that
 * is none, with its number, and for two lines of one name and JDK; reset is allowed then. */
enum step_status snapshot_file_read(struct snapshot_file *file, const char *path,
                                    struct step_error *error);
void snapshot_file_reset(struct snapshot_file *file);

/* Sets `*count` to the number of lines with this name that were read, and returns the first; NULL
 * with 0: none. */
const struct snapshot_line *snapshot_file_find(const struct snapshot_file *file, const char *name,
                                               size_t *count);
bool snapshot_line_has(const struct snapshot_line *line, unsigned jdk);

/* Makes the line of this name and JDK say this, and borrows the texts.  Returns false if there is
 * no memory, or no room for another JDK. */
bool snapshot_file_put(struct snapshot_file *file, const char *name, unsigned jdk, const char *text,
                       uint64_t objects, uint64_t bytes);
/* Removes the lines of this name that were read. */
void snapshot_file_drop(struct snapshot_file *file, const char *name);
/* Sorts the lines, so that new ones are found, too. */
void snapshot_file_sort(struct snapshot_file *file);
/* Writes the lines, sorted, in place of the file that was read.  Returns IO if it has changed. */
enum step_status snapshot_file_write(struct snapshot_file *file, struct step_error *error);

#endif
