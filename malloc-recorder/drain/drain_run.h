/* SPDX-License-Identifier: Apache-2.0 */
/* The drain's main loop. */
#ifndef MALLOC_RECORDER_DRAIN_DRAIN_RUN_H
#define MALLOC_RECORDER_DRAIN_DRAIN_RUN_H

#include <signal.h>

#include "capture/drain.h"
#include "capture/trace_file.h"
#include "malloc-recorder/drain/drain_control.h"

/* A native program's trace while its drain writes it: both files, the map and the writer. */
struct native_trace {
    /* as given by the program */
    uint64_t process;
    const char *wanted_file;
    const char *options;
    struct drain_numbers numbers;
    /* set by the drain */
    char path[4096];
    char live_path[4096 + sizeof STEP_LIVE_SUFFIX];
    int process_file; /* signals the program's end; -1: not supported by this system */
    int live_file;
    struct trace_file *file;
    struct step_live_header *header;
    struct drain_control *control;
    struct live_map map; /* the drain's mapping */
    struct step_writer *writer;
    struct live_allocs_decoder *decoder;
    struct symbols *symbols;      /* NULL: call stacks are not recorded */
    struct live_stream *global;   /* defines the frames; NULL: unknown yet */
    struct live_chunk_ref *later; /* full chunks that are taken next */
    const char *cut;              /* why the trace ends before its program, or NULL */
    bool is_evened;               /* records after the cut are skipped */
    bool is_live_made;            /* the live file exists under live_path */
    bool is_mapped;
};

enum native_trace_start { NATIVE_TRACE_FAILED, NATIVE_TRACE_ADDRESS_TAKEN, NATIVE_TRACE_READY };

/* Creates both files, maps the live one, opens the writer.  A failure is reported on stderr, and
 * nothing remains. */
enum native_trace_start native_trace_start(struct native_trace *trace);
/* Grows the live file ahead of the program.  Returns false if that is impossible; the program is
 * notified. */
bool native_trace_grow(struct native_trace *trace);
/* Set the trace's properties of its program, and the conversion of stamps to times as soon as it is
 * known. */
void native_trace_describe(struct native_trace *trace);
void native_trace_describe_clock(struct native_trace *trace);
/* Completes the trace file, and removes the live file's name, so that readers do not look for
 * more. */
void native_trace_close(struct native_trace *trace);

/* Set when another program replaced the traced one in its process (exec). */
extern volatile sig_atomic_t drain_successor_is_there;

/* Runs until the program has ended in any way.  The trace is complete then; its name becomes free
 * only afterwards. */
void drain_run(struct native_trace *trace);

#endif
