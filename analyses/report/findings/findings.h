/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: at most one sentence each, with numbers, on what allocates most, what grows and who
 * holds it, what dies at once, which heap would have been enough, and what the trace lacks.  There
 * is none without evidence in the trace.
 */
#ifndef ANALYSES_REPORT_FINDINGS_FINDINGS_H
#define ANALYSES_REPORT_FINDINGS_FINDINGS_H

#include "analyses/leaks/leak_rows.h"
#include "analyses/simulate/simulation.h"
#include "analyses/sites/site_lives.h"
#include "converter/graph/graph_moment.h"
#include "converter/trace/event_source.h"

enum finding_kind {
    FINDING_ALLOCATES,
    FINDING_GROWS,
    FINDING_DIES,
    FINDING_HEAP,
    FINDING_LACKS,
    FINDING_KINDS
};

/* Words of each kind, in the order of the enumeration. */
extern const char *const finding_words[FINDING_KINDS];

enum { FINDING_TEXT = 2048 };

struct finding {
    enum finding_kind kind;
    char text[FINDING_TEXT];    /* may have bytes of the trace */
    const char *verb, *options; /* of the command that shows more; NULL: none */
};

struct findings {
    struct finding items[FINDING_KINDS];
    size_t count;
};

/* What became of the objects of a cell of the leak tracker: those that died or survived
 * SURVIVED_OLD collections, and of these those that survived. */
struct cell_fate {
    struct site_amount decided, old;
};

/* findings_pass.c: Collects the evidence in a pass over all events of a trace.  Memory is that of
 * the leak tracker, and some 30 bytes for each site and for each object that existed before. */
struct findings_pass {
    struct leak_tracker leaks;
    struct cell_fate *fates; /* by cell; those without are zeros */
    size_t fate_count;
    struct object_table existing; /* those that live, with their sizes */
    uint64_t existing_bytes;
    uint64_t born_bytes; /* of all objects */
    uint64_t peak_living;
    struct generation_options generations;
    struct least_heap least;
    bool is_countable; /* false: a sample, or sizes that add up to more than 2^62 */
    bool is_native;    /* the program frees its objects itself */
    bool has_stacks;
};

/* The pass must not move afterwards.  Of a sampled trace it has only the leaks.  Returns false if
 * memory runs out; findings_pass_reset() is allowed then. */
bool findings_pass_init(struct findings_pass *pass, const struct event_source *source);
static inline enum step_status findings_pass_put(struct findings_pass *pass,
                                                 const struct trace_event *events, size_t count,
                                                 struct step_error *error)
{
    return leak_tracker_put(&pass->leaks, events, count, error);
}
enum step_status findings_pass_finish(struct findings_pass *pass, struct step_error *error);
void findings_pass_reset(struct findings_pass *pass);

/* What the sentences are made from, after the last event; NULL: unknown.  All of it is borrowed. */
struct findings_evidence {
    const struct event_source *source;
    const struct findings_pass *pass; /* of all objects, finished */
    const struct graph_moment *graph; /* at the end, or at the moment of a report */
    const char *path;                 /* of the trace, whose graph is read if it is wanted */
    uint64_t not_probed;              /* methods and classes that could not be traced */
};

/* Returns false if memory runs out. */
bool findings_make(const struct findings_evidence *evidence, struct findings *out);
/* Prints the sentences as lines of a list, each with the command that shows more of the trace at
 * `path` (NULL: none); nothing if there are none. */
void findings_print(const struct findings *findings, const char *path);
struct json_output;
/* Writes the member "findings": objects with "kind" and "text". */
void findings_put_json(const struct findings *findings, struct json_output *json);

/* trace_gaps.c: Calls `put` with a sentence for each thing that the trace lacks. */
void trace_gaps_each(const struct event_source *source, uint64_t not_probed,
                     void (*put)(void *user, const char *sentence), void *user);

#endif
