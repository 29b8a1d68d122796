/* SPDX-License-Identifier: Apache-2.0 */
/* All models of one pass: allocations and deaths go in, in the order of the trace; what each model
 * collected comes out. */
#ifndef CONVERTER_SIMULATE_SIMULATION_H
#define CONVERTER_SIMULATE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "converter/simulate/generations.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "steptrace/status.h"

/* A list of sizes given on the command line: 4m,6m, or 4m..512m, which doubles from 4m on. */

#define SIZE_LIST_MOST 64u

/* Zero-initialise for an empty list. */
struct size_list {
    uint64_t sizes[SIZE_LIST_MOST]; /* in ascending order */
    size_t count;
};

/* Parses an option's value (converter/base/arguments.h) and adds its sizes. */
bool take_size_list(void *list_target, const char *value, const char **fault);

/*
 * Collectors that look at the whole heap at each collection: a semi-space collector, which copies
 * what lives into the other half, and mark-compact.  A collection happens when an object does not
 * fit any more.
 */

struct one_space {
    uint64_t heap;     /* bytes, as the user gave it */
    uint64_t capacity; /* bytes that can be occupied: the heap, or half of it */
    uint64_t full_at;  /* position in the order of births at which the space is full */
    uint64_t collections;
    uint64_t kept; /* bytes that lived at collections: copied, or marked */
    uint64_t peak; /* most bytes occupied */
    bool is_too_small;
    uint64_t failed_at; /* position at which an object did not fit after a collection */
};

/*
 * The least heap in which a program runs with Serial, as -Xmx.  After a collection of the whole
 * heap what lives fills the old generation, then eden; survivor spaces stay empty.  An object needs
 * room in one piece: in the old generation, or in eden.
 */

/* HotSpot rounds -Xmx up to this, with pages of 4 KiB. */
#define HEAP_ALIGNMENT (UINT64_C(2) << 20)

struct least_heap {
    const struct generation_options *options;
    uint64_t young;         /* bytes; 0: a third of the heap, as without -Xmn */
    uint64_t heap;          /* result: the least that was large enough up to now */
    uint64_t old;           /* bytes of the old generation of that heap */
    struct young_spaces in; /* and of the spaces of its young one */
};

void least_heap_init(struct least_heap *least, uint64_t young,
                     const struct generation_options *options);
/* An object of `size` bytes was born; it and all others that live have `living`. */
void least_heap_put(struct least_heap *least, uint64_t living, uint64_t size);

struct simulation_options {
    struct generation_options generations;
    struct size_list young, regions, semi_space, mark_compact;
    struct size_list heap; /* limits; each young generation is tried with each larger one */
    bool existing_is_old;  /* what existed when the VM was ready is in the old generation */
};

/* HotSpot's parameters, and no sizes. */
#define SIMULATION_OPTIONS_DEFAULT                                                                 \
    (struct simulation_options)                                                                    \
    {                                                                                              \
        .generations = {                                                                           \
            .survivor_ratio = 8,                                                                   \
            .max_tenuring = 15,                                                                    \
            .target_survivor = 50,                                                                 \
            .region = UINT64_C(1) << 20                                                            \
        }                                                                                          \
    }
/* Adds young generations from `first` to 512 MiB, each twice as large as the one before. */
void simulation_options_add_young(struct simulation_options *options, uint64_t first);

/* Models of two generations, of one kind. */
struct generation_list {
    struct generations items[SIZE_LIST_MOST];
    size_t count;
};

/* Collectors of one space, of one kind. */
struct space_list {
    struct one_space items[SIZE_LIST_MOST];
    size_t count;
};

struct simulation {
    const char *path; /* of the trace, for messages; set by the caller, borrowed */
    struct generation_options options;
    struct segments segments;
    struct generation_list young;   /* of spaces */
    struct generation_list regions; /* of regions */
    struct space_list semi_space, mark_compact;
    struct least_heap least;                          /* with a young generation of a third */
    struct least_heap least_of_young[SIZE_LIST_MOST]; /* with each of `young`, if without limits */
    size_t least_count;
    uint64_t largest;      /* size of an object that is born in every eden */
    uint64_t nearest_full; /* least position at which some model collects */
    uint64_t position;     /* bytes born, those included that existed before the trace */
    bool existing_is_old;
    bool has_init;
    uint64_t init_ns; /* when the VM was ready to run the program */
    /* results */
    uint64_t objects;   /* allocated in the trace */
    uint64_t allocated; /* their bytes */
    uint64_t existing;  /* bytes that existed before the trace */
    uint64_t peak_living;
    uint64_t unknown_frees; /* of objects without an allocation */
    struct death_dates deaths;
    bool frees_are_exact; /* the program frees its objects itself; set by the caller */
    uint64_t collect;     /* bytes between collections of the traced run that found all dead
                             objects; 0: not known; set by the caller */
};

enum simulation_precision {
    SIMULATION_EXACT,   /* all deaths have the time at which the object became unreachable */
    SIMULATION_DATED,   /* some are bounds, or only their collection is known */
    SIMULATION_DELAYED, /* collections of the traced run found all deaths */
    SIMULATION_NONE,    /* no deaths of a Java program: all objects are taken for living */
};

/* Returns the number of young generations with a heap: SIZE_LIST_MOST at most is possible. */
size_t simulation_options_heaps(const struct simulation_options *options);
bool simulation_init(struct simulation *simulation, const struct simulation_options *options);
void simulation_reset(struct simulation *simulation);

enum step_status simulation_put(struct simulation *simulation, const struct trace_event *events,
                                size_t count, struct step_error *error);
void simulation_finish(struct simulation *simulation);
enum simulation_precision simulation_precision(const struct simulation *simulation);
/* Returns whether deaths are not known as exactly as eden is small: objects that died long before
 * its collections are taken for living. */
bool simulation_is_coarse(const struct simulation *simulation, const struct generations *model);

/* Returns the least heap with that young generation of `simulation->young`; NULL with limits. */
const struct least_heap *simulation_least_heap(const struct simulation *simulation,
                                               const struct generations *model);

/* Returns the work of a collector for each byte allocated. */
double simulation_mark_cons(const struct simulation *simulation, uint64_t work);

/* The forms of the result.  The caller checks `out` for errors. */
void simulation_print_text(const struct simulation *simulation, const char *path, FILE *out);
/* For svg_file_write(). */
void simulation_print_picture(const void *simulation, FILE *out);
void simulation_print_csv(const struct simulation *simulation, FILE *out);
void simulation_print_json(const struct simulation *simulation, const char *path, FILE *out);

#endif
