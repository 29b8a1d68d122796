/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output file.  It is written under a temporary name in the same directory and renamed when it
 * is complete, so that readers never see a partial file.  The new file gets the permissions and
 * owner of the file that it replaces, and is synced to the disk before the rename.  Who else may
 * write in the directory cannot lead it elsewhere (output_place.h).  Standard output
 * ("-"), pipes and devices are written directly.  What goes to a URL is spooled, and sent when it
 * is complete.
 */
#ifndef CONVERTER_OUTPUT_OUTPUT_FILE_H
#define CONVERTER_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "format/core/output_place.h"
#include "steptrace/status.h"
#include "steptrace/value.h"
#include "steptrace/writer.h"

struct output_file {
    const char *path;      /* as given by the user; borrowed */
    const char *post_type; /* media type of what goes to a URL; NULL: it is a file */
    char *temporary;       /* its name in the place's directory; NULL: written directly */
    struct output_place place;
    struct stat made;  /* the temporary file */
    char seekable[32]; /* a path under which a library opens it, or what stands in for a pipe */
    bool is_inside;    /* in a directory that is not there for others yet */
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
/* The same for a name that the user did not give: nothing, or a regular file of the caller's, may
 * have it. */
enum step_status output_file_open_own(struct output_file *file, const char *path,
                                      struct step_error *error);
enum step_status output_file_write(struct output_file *file, const void *data, size_t length,
                                   struct step_error *error);
/* Returns the file as an output of the libraries.  The structure must not move while it is in
 * use. */
struct step_output output_file_as_output(struct output_file *file);
/* Returns a path under which a library can open the output itself and seek in it.  Returns NULL
 * and sets `error` on failure. */
const char *output_file_seekable_path(struct output_file *file, struct step_error *error);
/* Puts the output's name for that path into the error of a library.  Returns `status`. */
enum step_status output_file_name_error(const struct output_file *file, enum step_status status,
                                        struct step_error *error);
/* Closes the file and renames it to its final name.  The file is closed even after an error. */
enum step_status output_file_commit(struct output_file *file, struct step_error *error);
/* Closes and removes the temporary file.  Does nothing after a commit. */
void output_file_abort(struct output_file *file);
/* Commits the file if `status` is OK, or else removes it.  Returns the first failure. */
enum step_status output_file_end(struct output_file *file, enum step_status status,
                                 struct step_error *error);

/* Writes what `print` prints into a file that replaces the one at `path` once it is whole; `frame`
 * is what stands before and after it, NULL: nothing.  `print` returns false if memory runs out. */
enum step_status output_file_print(const char *path, const struct step_bytes *frame,
                                   bool (*print)(const void *user, FILE *out), const void *user,
                                   struct step_error *error);

/* The same as output_file_open_own(). */
enum step_status output_file_print_own(const char *path, const struct step_bytes *frame,
                                       bool (*print)(const void *user, FILE *out), const void *user,
                                       struct step_error *error);
/* The same for a file that is open, which is closed. */
enum step_status output_file_fill(struct output_file *file, const struct step_bytes *frame,
                                  bool (*print)(const void *user, FILE *out), const void *user,
                                  struct step_error *error);

/* Appends to a regular file, which is made if there is none.  For a file that others append to, as
 * the summary of a job: whatever is in it stays. */
enum step_status output_file_append(const char *path, const void *data, size_t length,
                                    struct step_error *error);

/* Opens the file `name` of a directory that is not there for others yet (output_directory.h);
 * `shown` is what messages call it.  Committing it closes it. */
enum step_status output_file_open_in(struct output_file *file, int directory, const char *name,
                                     const char *shown, struct step_error *error);
/* Opens the file `below`, as table=a/part-0.parquet, of the directory `directory`.  Makes the
 * directories that lack, and follows no link in `below`. */
enum step_status output_file_open_below(struct output_file *file, const char *directory,
                                        const char *below, const char *shown,
                                        struct step_error *error);
/* Makes the directories of a path that lack, up to its last slash. */
enum step_status output_file_make_directories(const char *path, struct step_error *error);

/* Creates a file under a name that nothing has, also no link.  Returns a descriptor, or -1 and sets
 * errno. */
int output_file_create(const char *path, mode_t mode);
/* Remove a name that has come to be another's, or that a caller has made.  Return false and set
 * errno on failure. */
bool output_file_remove(const char *path);
bool output_file_remove_below(const char *directory, const char *below);
/* Syncs the file `path` and its directory, before a second copy of its contents is removed.
 * Returns false and sets errno on failure. */
bool output_file_sync(const char *path);

#endif
