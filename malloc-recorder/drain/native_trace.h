/* SPDX-License-Identifier: Apache-2.0 */
/* A native program's trace while its drain writes it. */
#ifndef MALLOC_RECORDER_DRAIN_NATIVE_TRACE_H
#define MALLOC_RECORDER_DRAIN_NATIVE_TRACE_H

#include "capture/drain.h"
#include "capture/trace_file.h"
#include "malloc-recorder/drain/drain_control.h"

struct native_trace {
    /* as the program said */
    uint64_t process;
    const char *wanted_file;
    const char *options;
    struct drain_numbers numbers;
    /* the drain's */
    char path[4096];
    char live_path[4096 + sizeof STEP_LIVE_SUFFIX];
    int process_file; /* tells of the program's end; -1: this system has none such */
    int live_file;
    struct trace_file *file;
    struct step_live_header *header;
    struct drain_control *control;
    struct live_map map; /* this side of it */
    struct step_writer *writer;
    struct live_allocs_decoder *decoder;
    struct symbols *symbols;      /* NULL: no call stacks are recorded */
    struct live_stream *global;   /* frames are defined there; NULL: not known yet */
    struct live_chunk_ref *later; /* full chunks that are taken next */
    const char *cut;              /* why the trace ends before its program, NULL: it does not */
    bool is_live_made;            /* and has the name live_path */
    bool is_mapped;
};

enum native_trace_start { NATIVE_TRACE_FAILED, NATIVE_TRACE_ADDRESS_TAKEN, NATIVE_TRACE_READY };

/* Makes both files, maps the live one, opens the writer.  A fault is told on stderr, and nothing is
 * left. */
enum native_trace_start native_trace_start(struct native_trace *trace);
/* Lets the live file grow ahead of the program; false: it cannot, and the program knows. */
bool native_trace_grow(struct native_trace *trace);
/* What the trace tells of its program; and how stamps become its times, as soon as that is known.
 */
void native_trace_describe(struct native_trace *trace);
void native_trace_describe_clock(struct native_trace *trace);
/* The trace's file is whole; without the live file's name nobody looks for more. */
void native_trace_close(struct native_trace *trace);

#endif
