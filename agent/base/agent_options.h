/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the agent's options: `key=value` pairs separated by commas; lists use `+`
 * (docs/man/libtracer.7). */
#ifndef AGENT_BASE_AGENT_OPTIONS_H
#define AGENT_BASE_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/clock.h"
#include "capture/trace_store.h"

enum option_event {
    TRACED_CLASS = 1 << 0,
    TRACED_ALLOC = 1 << 1,
    TRACED_FREE = 1 << 2,
    TRACED_THREAD = 1 << 3,
    TRACED_METHOD = 1 << 4,
    TRACED_REFERENCE = 1 << 5, /* stores of references */
    TRACED_PHASE = 1 << 6,     /* phase= was given; not a word of events= */
    TRACED_DEFAULT = TRACED_CLASS | TRACED_ALLOC | TRACED_FREE | TRACED_THREAD,
    TRACED_ALL = TRACED_DEFAULT | TRACED_METHOD
};

enum option_engine { ENGINE_JVMTI, ENGINE_BYTECODE, ENGINE_SAMPLED, ENGINE_WALK };
enum option_overflow { OVERFLOW_BLOCK, OVERFLOW_DROP };
enum option_walk { WALK_AUTO, WALK_JVMTI, WALK_CHECK };
enum option_command {
    COMMAND_START,
    COMMAND_STOP,
    COMMAND_FLUSH,
    COMMAND_STATUS,
    COMMAND_SNAPSHOT,
    COMMAND_DORMANT /* at load alone */
};
enum option_snapshot { SNAPSHOT_START = 1 << 0, SNAPSHOT_END = 1 << 1 };

/* What a trace does not have. */
enum option_redact { REDACT_NAMES = 1 << 0, REDACT_COMMAND_LINE = 1 << 1 };

/* Options whose being given matters, besides their value. */
enum option_named {
    NAMED_SAMPLE = 1 << 0, /* an option of engine=sampled alone */
    NAMED_STACK = 1 << 1,
    NAMED_EXISTING = 1 << 2, /* existing=yes */
    NAMED_KEEP = 1 << 3,
    NAMED_ENGINE = 1 << 4,
    NAMED_EVENTS = 1 << 5,
    NAMED_SHARE = 1 << 6,
    NAMED_OTHER = 1 << 7 /* an option of one of the other engines */
};

/* What a dormant agent's options say of their engine, and a command for another one does not take.
 */
#define NAMED_OF_ENGINE (NAMED_ENGINE | NAMED_SAMPLE | NAMED_KEEP | NAMED_SHARE | NAMED_OTHER)

/* engine=sampled: exact totals of classes, beside the samples. */
enum option_totals { TOTALS_NONE, TOTALS_THREADS, TOTALS_WALK };
enum option_end { END_AS_IT_IS, END_COLLECTED };
enum option_method { METHOD_EVENTS, METHOD_COUNT };
enum option_probes { PROBES_RESTORED, PROBES_KEPT };
/* AUTO: if the JVM has loaded many classes. */
enum option_gentle { GENTLE_AUTO, GENTLE_YES, GENTLE_NO };

/* Shares are counted in hundredths of a percent. */
#define OPTION_SHARE_PERCENT UINT64_C(100)
#define OPTION_SHARE_WHOLE (100 * OPTION_SHARE_PERCENT)
#define OPTION_GLOBS 64
#define OPTION_STACK_MAX 1024
#define OPTION_TEXT 4096
/* engine=sampled: the JVM's own default, and the frames of each sample. */
#define OPTION_SAMPLE_DEFAULT (UINT64_C(512) << 10)
#define OPTION_SAMPLED_STACK 16
#define OPTION_SAMPLED_MEMORY_LEAST (UINT64_C(16) << 20) /* its tables and buffers take 12 MiB */
#define OPTION_LIVE_DEFAULT UINT64_C(100000)
#define OPTION_KEEP_DEFAULT 12u
#define OPTION_SHARE_DEFAULT 5u
#define OPTION_RESOLUTION_DEFAULT UINT64_C(1000)
#define OPTION_STAMP_EVENTS_MOST 65536
/* gentle=auto: more loaded classes than these are changed in slices. */
#define OPTION_GENTLE_CLASSES 2000

/* Patterns, stored as offsets into `globs_text` so that options can be copied. A method pattern is
 * a class glob, a 0 byte and a glob of the method name. */
struct glob_list {
    uint32_t at[OPTION_GLOBS];
    size_t count;
};

struct options {
    char file[OPTION_TEXT]; /* %-sequences expanded */
    uint32_t events;        /* enum option_event bits */
    uint32_t engine;
    uint32_t named; /* enum option_named bits */
    uint32_t overflow;
    uint32_t ring; /* enum ring_place_option */
    uint32_t clock;
    uint32_t command;       /* for attach; COMMAND_START when none was named */
    char wake[OPTION_TEXT]; /* dormant: the file with commands; "": none */
    bool existing;
    uint32_t gentle; /* enum option_gentle */
    uint32_t probes; /* enum option_probes: of the classes, when the trace has ended */
    bool missed;     /* compare with the JVM's counters what calls from before the trace allocate */
    bool layout;     /* fields of classes and lengths of arrays, see agent/records/layouts.h */
    bool required;   /* the program must not run untraced */
    bool overwrite;
    uint32_t mode;   /* permissions of the files */
    uint32_t redact; /* enum option_redact bits */
    bool help;
    uint64_t resolution_ns; /* 0: no times, see tracer.tick */
    uint64_t stamp_events;  /* events of a thread from one stamp to the next: pulse.h */
    uint64_t limit_bytes;   /* 0: none */
    uint64_t finish_ns;     /* how long the JVM's end waits for the trace to be complete */
    uint64_t buffer_bytes;
    uint64_t memory_bytes;        /* ceiling of the agent's memory; 0: none */
    uint64_t max_cpu;             /* the agent's share of processor time, OPTION_SHARE_WHOLE: all */
    uint64_t max_pause_ns;        /* for how long the agent may stop the program; 0: no limit */
    uint32_t snapshots;           /* enum option_snapshot bits */
    uint64_t snapshot_every_ns;   /* 0: none */
    uint64_t snapshot_most_ns;    /* at the end, if it is estimated to take no longer; 0: always */
    uint32_t end;                 /* enum option_end */
    bool collects;                /* collect= was given */
    uint64_t collect_every_bytes; /* 0: after each allocation */
    uint32_t level;
    uint32_t stack;                     /* frames of each allocation's call stack; 0: none */
    uint64_t sample_bytes;              /* engine=sampled: the mean interval of samples, */
    uint64_t rate;                      /* samples a second at most, about; 0: no limit, */
    uint64_t live;                      /* objects whose deaths are awaited at a time, */
    uint64_t rotate_ns;                 /* how long a file lasts; 0: until the trace ends, */
    uint64_t keep;                      /* files that stay, */
    uint64_t duration_ns;               /* when the trace ends; 0: not by itself, */
    uint64_t window_ns;                 /* all objects for that time, then the sample again, */
    uint64_t file_number;               /* 1: the first; set by rotation.c for the others */
    uint32_t totals;                    /* enum option_totals */
    uint32_t share;                     /* of walks of eden: percent of the time they may take */
    bool indexes;                       /* frames have their bytecode index, too */
    uint32_t walk;                      /* enum option_walk: how stacks are walked */
    uint32_t method;                    /* enum option_method */
    uint32_t internals;                 /* a bit for each allowed enum internal */
    bool internals_proven;              /* only those that pass a self-test */
    struct glob_list include, exclude;  /* classes */
    struct glob_list start_at, stop_at; /* methods */
    bool phases;                        /* steptrace.Phase works, */
    bool phases_known;                  /* and benchmark harnesses' iterations are phases */
    struct glob_list phase_at;          /* methods whose calls are phases of their thread, */
    struct glob_list threads_phase_at;  /* or of those too that it starts meanwhile, */
    struct glob_list program_phase_at;  /* or of the program */
    char globs_text[2 * OPTION_TEXT];
    size_t globs_used;
    char text[2 * OPTION_TEXT]; /* the text as given */
};

/* Sets the defaults, then parses `text` (may be NULL). Logs every fault; returns false if there was
 * one. */
bool options_parse(struct options *options, const char *text);
/* Returns a copy, which the caller frees; NULL: out of memory. */
struct options *options_copy(const struct options *options);
/* Makes the limits at most those of `limits`, and redacts what they redact. Logs and returns false
 * if a limit is too small for the engine then. */
bool options_limit(struct options *options, const struct options *limits);
/* Reads a command to an agent with these defaults: see docs/agent-options.md, A dormant agent. */
bool options_parse_command(struct options *options, const struct options *defaults,
                           const char *text);

/* Same as options_parse(), for recorders of native programs: options for Java only are unknown. */
bool options_parse_shared(struct options *options, const char *text);

/* Returns true if the trace is one file of a set, or may become one: a sample, or an exact window.
 */
static inline bool options_are_of_set(const struct options *options)
{
    return options->engine == ENGINE_SAMPLED || options->window_ns != 0;
}

/* Prints all options on stderr, or those that recorders of native programs have. */
void options_print_help(bool only_shared);

/* Returns true if methods of the class (name as in a class file) are to be traced. */
bool options_trace_class(const struct options *options, const char *class_name);

/* Returns true if `list` matches a method of the class or, if `method_name` is not NULL, this
 * method. */
bool options_names_method(const struct options *options, const struct glob_list *list,
                          const char *class_name, const char *method_name);

/* Writes the methods of `list` as CLASS.METHOD, separated by `+`. */
void options_list_methods(const struct options *options, const struct glob_list *list, char *out,
                          size_t out_size);

/* Writes the names of the events in `events`, separated by `+`. */
void options_event_names(uint32_t events, char *out, size_t out_size);

#endif
