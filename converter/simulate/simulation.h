/* SPDX-License-Identifier: Apache-2.0 */
/* All models of one pass: allocations and deaths go in, in the order of the trace; what each model
 * collected comes out. */
#ifndef CONVERTER_SIMULATE_SIMULATION_H
#define CONVERTER_SIMULATE_SIMULATION_H

#include <stdio.h>

#include "converter/simulate/least_heap.h"
#include "converter/simulate/one_space.h"
#include "converter/simulate/size_list.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "steptrace/status.h"

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

enum step_status simulation_put(void *simulation_pointer, const struct trace_event *events,
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
/* For output_file_print(). */
bool simulation_print_picture(const void *simulation, FILE *out);
void simulation_print_csv(const struct simulation *simulation, FILE *out);
void simulation_print_json(const struct simulation *simulation, const char *path, FILE *out);

#endif
