/* SPDX-License-Identifier: Apache-2.0 */
/* A trace and its ring while they are written. With RING_MEMORY another process writes the files,
 * and no call here waits for a disk longer than `gives_up` allows. With RING_FILE this process
 * writes them, and the ring is the live file. */
#ifndef CAPTURE_TRACE_STORE_H
#define CAPTURE_TRACE_STORE_H

#include "capture/live_map.h"
#include "capture/trace_file.h"
#include "capture/writer_process.h"

enum ring_place_option { RING_MEMORY, RING_FILE };

struct trace_store {
    struct live_map *map;
    struct trace_file *file;       /* RING_FILE */
    struct writer_process *writer; /* RING_MEMORY */
    void *found_by;                /* a page of the live file, mapped and never accessed */
    char path[PATH_MAX];
    struct file_identity identity; /* of the trace */
    bool full;                     /* the disk is full: only the end is still written */
    int code;                      /* errno of the last failed reservation */
    bool keeps_live;
    bool ending; /* set by the owner: what follows is the trace's end */
};

struct trace_store_wanted {
    const char *path; /* of the trace, or the first of trace_file_create()'s names */
    struct trace_file_rules rules;
    enum ring_place_option ring;
    uint64_t buffer_bytes;
    bool drop;
    /* Called while a call waits for the other process: returns true to end the wait. */
    bool (*gives_up)(void *owner, uint64_t waited_ns);
    void *owner;
};

/* Creates the files. They belong to the calling thread, which alone calls the following
 * functions. */
enum step_status trace_store_open(const struct trace_store_wanted *wanted, struct trace_store **out,
                                  struct step_error *error);
/* Same as trace_file_reserve(). */
bool trace_store_reserve(struct trace_store *store, uint64_t length);
struct step_output trace_store_output(struct trace_store *store);
/* Closes the files. `keep_live`: what the trace lacks stays in the live file. */
void trace_store_end(struct trace_store *store, bool keep_live);
/* Removes the files of a trace that nobody wants, and frees the store and the ring. */
void trace_store_discard(struct trace_store *store);
/* Frees the store and the ring after trace_store_end(). No thread may use them any more. */
void trace_store_destroy(struct trace_store *store);

#endif
