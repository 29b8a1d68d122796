/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a trace: classes, methods, threads and frames by id.  A source adds them before the
 * first event that uses them; they live as long as the source.
 */
#ifndef CONVERTER_TRACE_NAMES_H
#define CONVERTER_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/cli/stack_text.h"
#include "converter/containers/id_table.h"
#include "converter/trace/phase_sets.h"
#include "steptrace/value.h"

struct trace_class {
    struct step_bytes name; /* as in a class file */
    uint64_t loader;
    struct step_bytes file;       /* of its source, as "HashMap.java"; empty: unknown */
    struct step_bytes map_text;   /* of its source map; empty: none */
    const struct source_map *map; /* borrowed; NULL: lines are the file's */
    bool known;
};

/* Access flag of a static method. */
#define TRACE_METHOD_STATIC 0x0008u

struct trace_method {
    uint32_t class_id;
    struct step_bytes name;
    struct step_bytes descriptor; /* empty: unknown */
    uint64_t modifiers;           /* access flags; 0 if the descriptor is unknown */
    bool known;
};

/* A frame of a call stack.  Its parent's id is lower than its own, so frames form a tree. */
struct trace_frame {
    uint32_t parent; /* 0: it is the outermost */
    uint32_t method_id;
    uint32_t line;     /* 0: unknown */
    uint32_t bytecode; /* 1 + bytecode index, if the line is unknown or with places=bytecode */
    bool known;
};

enum trace_thread_flag { TRACE_THREAD_DAEMON = 1, TRACE_THREAD_VIRTUAL = 2 };

struct trace_thread {
    uint64_t number; /* as the text format shows it */
    struct step_bytes name;
    uint64_t flags;
    bool known;
};

/* A name of phases. */
struct trace_phase_name {
    struct step_bytes name;
    bool known;
};

struct name_chunk;
struct source_map;

struct trace_names {
    struct id_table classes; /* struct trace_class */
    struct id_table methods; /* struct trace_method */
    struct id_table threads; /* struct trace_thread */
    struct id_table frames;  /* struct trace_frame */
    struct id_table phases;  /* struct trace_phase_name; only if phases are selected or named */
    struct phase_sets phases_open; /* only if phases are named (event_selection.h) */
    struct name_chunk *chunks;
    bool no_memory; /* a name could not be added, and later events lack it */
};

void trace_names_init(struct trace_names *names);
void trace_names_reset(struct trace_names *names);

/* Copies the bytes; the copy lives as long as the names.  Returns false if out of memory. */
bool trace_names_copy(struct trace_names *names, struct step_bytes bytes, struct step_bytes *copy);

struct name_index;
/* Returns the number of a pair in an index (name_index.h), which gets a copy of a new text; 0 if
 * out of memory. */
uint32_t trace_names_number(struct trace_names *names, struct name_index *index, uint64_t number,
                            struct step_bytes text, bool *is_new);
/* The same for formats that name a class, method or thread without an id: its number in the index
 * is its id.  `*is_new`: it was added. */
uint32_t trace_names_class(struct trace_names *names, struct name_index *index,
                           struct step_bytes name, bool *is_new);
uint32_t trace_names_method(struct trace_names *names, struct name_index *index, uint32_t class_id,
                            struct step_bytes name);
uint32_t trace_names_thread(struct trace_names *names, struct name_index *index, uint64_t number,
                            bool *is_new);

/* Return the entry of an id; never NULL.  The entry of an unknown id is named "?". */
const struct trace_class *trace_class_of(const struct trace_names *names, uint32_t id);
const struct trace_method *trace_method_of(const struct trace_names *names, uint32_t id);
const struct trace_frame *trace_frame_of(const struct trace_names *names, uint32_t id);

/* Frames that a sink has to write, innermost first; the memory is used again. */
struct frame_chain {
    uint32_t *ids;
    size_t count, capacity;
};
/* Sets `chain` to the frame and its callers, up to the first whose entry in `written` (uint64_t by
 * id) is not 0.  Looks at each once, as a file may have stacks of any depth.  Returns false if
 * memory runs out. */
bool frame_chain_find(struct frame_chain *chain, const struct trace_names *names,
                      const struct id_table *written, uint32_t id);
const struct trace_thread *trace_thread_of(const struct trace_names *names, uint32_t id);

/* Returns a line (0: unknown) or bytecode index of a method as a place in a source file. */
struct frame_place trace_place(const struct trace_names *names, uint32_t method_id, uint32_t line,
                               uint32_t bytecode);
/* Writes "java/util/HashMap.java", truncated to `out_size`, for a place in a class's method:
 * sources lie in directories named after packages.  Returns the length; 0 if the file is not known.
 */
size_t trace_source_path(const struct trace_names *names, uint32_t class_id,
                         const struct frame_place *place, char *out, size_t out_size);

#endif
