/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output file.  It is written under a temporary name in the same directory and renamed when it
 * is complete, so that readers never see a partial file.  The new file gets the permissions and
 * owner of the file that it replaces, and is synced to the disk before the rename.  Standard output
 * ("-"), pipes and devices are written directly.  What goes to a URL is spooled, and sent when it
 * is complete.
 */
#ifndef CONVERTER_BASE_OUTPUT_FILE_H
#define CONVERTER_BASE_OUTPUT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "converter/base/descriptors.h"
#include "steptrace/packed.h"
#include "steptrace/status.h"
#include "steptrace/writer.h"

/* The path of an output file, and the existing file that it replaces. */
struct output_target {
    char *path; /* with a symbolic link resolved */
    bool exists;
    struct stat about; /* the existing file */
};

/* Syncs the file `path` and its directory, before a second copy of its contents is removed.
 * Returns false and sets errno on failure. */
bool output_target_sync_path(const char *path);

struct output_file {
    const char *path;      /* as given by the user; borrowed */
    const char *post_type; /* media type of what goes to a URL; NULL: it is a file */
    char *temporary;       /* NULL: written directly */
    struct output_target target;
    char *spool_path; /* path of the seekable temporary file that stands in for a pipe */
    int descriptor;
    int spool; /* -1: none */
    uint64_t size_bytes;
};

enum step_status output_file_open(struct output_file *file, const char *path,
                                  struct step_error *error);
/* The same for formats that can be sent to an HTTP server, as this media type; NULL: they cannot.
 */
enum step_status output_file_open_or_post(struct output_file *file, const char *path,
                                          const char *post_type, struct step_error *error);
enum step_status output_file_write(struct output_file *file, const void *data, size_t length,
                                   struct step_error *error);
/* Returns the file as an output of the libraries.  The structure must not move while it is in
 * use. */
struct step_output output_file_as_output(struct output_file *file);
/* Returns a path under which a library can open the output itself and seek in it.  Returns NULL
 * and sets `error` on failure. */
const char *output_file_seekable_path(struct output_file *file, struct step_error *error);
/* Closes the file and renames it to its final name.  The file is closed even after an error. */
enum step_status output_file_commit(struct output_file *file, struct step_error *error);
/* Closes and removes the temporary file.  Does nothing after a commit. */
void output_file_abort(struct output_file *file);
/* Commits the file if `status` is OK, or else removes it.  Returns the first failure. */
enum step_status output_file_end(struct output_file *file, enum step_status status,
                                 struct step_error *error);

/* A stdio stream that writes to an output of the libraries, for code that prints with stdio. */
struct output_stream {
    FILE *file;
    struct step_output to;
    struct step_packed_output *packed; /* NULL: it is not compressed */
    struct step_error error;           /* the first error of a write */
};

/* Puts a packer, which compresses in a thread of its own, before the output, unless `packing` is
 * NONE; then `*packed` stays as it is. */
enum step_status output_pack(struct step_output *output, enum step_packing packing, int level,
                             struct step_packed_output **packed, struct step_error *error);

/* Opens the stream, which must not move afterwards, and compresses what is printed. */
enum step_status output_stream_open(struct output_stream *stream, const struct step_output *to,
                                    enum step_packing packing, int level, struct step_error *error);
/* Returns the first error of any write so far. */
static inline enum step_status output_stream_status(const struct output_stream *stream,
                                                    struct step_error *error)
{
    if (stream->error.status != STEP_STATUS_OK && error != NULL)
        *error = stream->error;
    return stream->error.status;
}
/* Completes what is printed.  Returns the first error of any write. */
enum step_status output_stream_close(struct output_stream *stream, struct step_error *error);
/* Frees the stream's resources, after a failure or after output_stream_close(). */
void output_stream_reset(struct output_stream *stream);

/* Writes what `print` prints into a file that replaces the one at `path` once it is whole; `frame`
 * is what stands before and after it, NULL: nothing.  `print` returns false if memory runs out. */
enum step_status output_file_print(const char *path, const struct step_bytes *frame,
                                   bool (*print)(const void *user, FILE *out), const void *user,
                                   struct step_error *error);

/* Opens an unlinked temporary file.  Returns its descriptor, or -1 and sets errno. */
int output_file_spool(void);
/* The same: sets `*spool`, and describes the error. */
enum step_status output_spool_open(int *spool, struct step_error *error);
/* Returns that file as an output of the libraries, which writes at its end. */
struct step_output output_spool_as_output(int *spool);
/* Write, or read, all these bytes at a position of that file. */
enum step_status output_spool_write(int spool, const void *bytes, size_t length, uint64_t at,
                                    struct step_error *error);
enum step_status output_spool_read(int spool, void *bytes, size_t length, uint64_t at,
                                   struct step_error *error);

/* Makes SIGINT, SIGTERM and SIGHUP remove the temporary file before they end the program. */
void output_file_catch_signals(void);
/* Blocks these signals while a temporary file is created and registered for removal.  Returns
 * the previous mask for output_file_let_signals(). */
sigset_t output_file_hold_signals(void);
void output_file_let_signals(sigset_t before);
/* Removes a directory and the files in it. */
void output_file_remove_directory(const char *path);
/* Makes these signals also remove this directory and the files in it; NULL: no directory. */
void output_file_doom_directory(const char *path);

#endif
