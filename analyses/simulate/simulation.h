/* SPDX-License-Identifier: Apache-2.0 */
/* All models of one pass: allocations and deaths go in, in the order of the trace; what each model
 * collected comes out. */
#ifndef ANALYSES_SIMULATE_SIMULATION_H
#define ANALYSES_SIMULATE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "converter/containers/object_table.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "steptrace/status.h"

/*
 * The living objects by when they were born.  A segment is a part of the order of births, and knows
 * how many of its bytes live.  All models share the segments: each collection of any model begins a
 * segment, so that what a model allocated between two of its collections is whole segments.
 *
 * That is what makes one pass over the trace enough for any number of sizes.  A death changes one
 * number, not one per model; a model asks what lives of a cohort only when it collects, by adding
 * up segments.  No model keeps objects.
 */

struct segment {
    uint64_t living; /* bytes */
    uint64_t large;  /* size of the only object, if it may be too large for some eden; else 0 */
};

struct segments {
    struct segment *items;
    uint32_t count; /* births go to the last; the first has what existed before the trace */
    size_t capacity;
    bool is_last_used;
    struct object_table births; /* object -> segment, size */
    uint64_t living;            /* bytes of all segments */
};

bool segments_init(struct segments *segments);
void segments_reset(struct segments *segments);

/* Begins a segment, unless the last one is empty: the last one is then empty.  Returns false if out
 * of memory. */
bool segments_begin(struct segments *segments);
/* Returns false if out of memory. */
bool segments_put(struct segments *segments, uint64_t object, uint64_t size);
/* The object existed before the trace.  Its segment is in no range of segments_living(). */
bool segments_put_existing(struct segments *segments, uint64_t object, uint64_t size);
/* The object is put alone into a segment. */
bool segments_put_large(struct segments *segments, uint64_t object, uint64_t size);
/* The object died.  Returns false if it is unknown. */
bool segments_take(struct segments *segments, uint64_t object);

/*
 * Two generations, the young one with an eden and two survivor spaces, as Serial of HotSpot has
 * them, or of regions, as G1 with a young generation of fixed size: what the survivors do not take
 * of it is eden.  Eden is empty after each collection.  What was born between two collections is
 * therefore a cohort of one age; a cohort is a range of segments.
 *
 * Positions are counted in bytes born, the only clock that a collector has: eden fills with births,
 * whatever dies.  So the position of the next collection is known when the last one ends
 * (`full_at`), and the simulation looks at the models only when it passes the least of these.
 */

#define AGE_MOST 15u
/* HotSpot rounds the sizes of spaces to this. */
#define SPACE_ALIGNMENT UINT64_C(65536)
#define YOUNG_LEAST (3 * SPACE_ALIGNMENT)

/* Parameters of the same names as those of HotSpot. */
struct generation_options {
    uint64_t survivor_ratio;
    uint64_t max_tenuring;    /* MaxTenuringThreshold: AGE_MOST or less */
    uint64_t target_survivor; /* TargetSurvivorRatio: per cent */
    uint64_t region;          /* G1HeapRegionSize: bytes */
};

/* Bytes of the spaces of a young generation. */
struct young_spaces {
    uint64_t eden, survivor; /* there are two survivor spaces */
};
struct young_spaces young_spaces_of(uint64_t young, const struct generation_options *options);

struct cohort {
    uint32_t first, end; /* segments */
    double share;        /* the part of its bytes that is not in the old generation */
};

struct generations {
    const struct generation_options *options;
    uint64_t young, eden, survivor;   /* bytes of each space; of `survivor`, the most */
                                      /* `young` 0: one space of `eden`, no generations */
    uint64_t region;                  /* bytes of a region; 0: spaces, not regions */
    uint64_t largest;                 /* size of an object in eden: larger ones are born old */
    uint64_t full_at;                 /* position in the order of births at which eden is full */
    struct cohort ages[AGE_MOST + 1]; /* [0] is in eden; [n] survived n collections */
    unsigned threshold;               /* of ages that are not promoted */
    uint64_t in_from;                 /* bytes in the occupied survivor space */
    uint64_t old;                     /* bytes in the old generation, dead ones included */
    uint64_t heap;                    /* bytes of both generations; 0: no limit */
    bool is_crowded;                  /* the last full collection left something in eden */
    uint64_t expectations;            /* number of promotions that these come from: */
    double promoted_mean, promoted_deviation; /* as the JVM expects of the next collection */
    /* results */
    uint64_t collections;
    uint64_t overflows; /* collections at which survivors did not fit */
    uint64_t copied;    /* bytes, to a survivor space */
    uint64_t promoted;  /* bytes, to the old generation */
    uint64_t survived;  /* bytes that lived at the first collection after their birth */
    uint64_t peak;      /* most bytes occupied */
    uint64_t dead_old;  /* bytes of the old generation that were dead at the end */
    uint64_t full;      /* collections of the whole heap */
    uint64_t marked;    /* bytes that lived at them */
    bool is_too_small;  /* the heap */
    uint64_t failed_at; /* position at which an object did not fit after a full collection */
};

void generations_init(struct generations *model, uint64_t young,
                      const struct generation_options *options);
/* One space instead of generations, of which `capacity` bytes can be occupied: the heap of
 * mark-compact, or half of that of a semi-space collector, which copies what lives into the other
 * half.  Each collection looks at the whole heap; its work is in `marked`. */
void generations_init_whole(struct generations *model, uint64_t heap, uint64_t capacity);
/* `young` is at least 2 regions. */
void generations_init_regions(struct generations *model, uint64_t young,
                              const struct generation_options *options);
/* An object of `size` bytes does not fit into eden.  `position` is the number of bytes born before
 * it; the last segment is empty. */
void generations_collect(struct generations *model, const struct segments *segments,
                         uint64_t position, uint64_t size);
/* Returns whether the old generation has no room for an object of that size, so that it is to be
 * collected first. */
bool generations_is_old_full(const struct generations *model, uint64_t size);
/* Collects the whole heap of a model of one space. */
void generations_collect_whole(struct generations *model, const struct segments *segments,
                               uint64_t position, uint64_t size);
/* Collects the whole heap for an object of the old generation.  The last segment is empty. */
void generations_collect_old(struct generations *model, const struct segments *segments,
                             uint64_t position, uint64_t size);
/* Bytes that are not born in eden. */
void generations_put_old(struct generations *model, uint64_t size);
void generations_finish(struct generations *model, const struct segments *segments,
                        uint64_t position);

/* A list of sizes given on the command line: 4m,6m, or 4m..512m, which doubles from 4m on. */

#define SIZE_LIST_MOST 64u

/* Zero-initialise for an empty list. */
struct size_list {
    uint64_t sizes[SIZE_LIST_MOST]; /* in ascending order */
    size_t count;
};

/* Parses an option's value (converter/cli/arguments.h) and adds its sizes. */
bool take_size_list(void *list_target, const char *value, const char **fault);

/*
 * The least heap in which a program runs with Serial, as -Xmx.  After a collection of the whole
 * heap what lives fills the old generation, then eden; survivor spaces stay empty.  An object needs
 * room in one piece: in the old generation, or in eden.
 *
 * Whether a heap is large enough depends on the moment with the most live bytes, and on objects too
 * large for eden, each on its own.  So the answer can be kept while the trace passes: a heap that
 * was too small for one moment is too small for the program.
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
/* An object of `size` bytes was born; it and all others that live have `living`, which is at most
 * 2^62. */
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

/* Models of one kind: two generations of spaces, or of regions; or collectors of one space. */
enum model_kind { MODEL_YOUNG, MODEL_REGIONS, MODEL_SEMI_SPACE, MODEL_MARK_COMPACT, MODEL_KINDS };

struct model_list {
    struct generations items[SIZE_LIST_MOST];
    size_t count;
};

struct simulation {
    const char *path; /* of the trace, for messages; set by the caller, borrowed */
    struct generation_options options;
    struct segments segments;
    struct model_list lists[MODEL_KINDS];
    struct least_heap least; /* with a young generation of a third */
    struct least_heap
        least_of_young[SIZE_LIST_MOST]; /* with each of MODEL_YOUNG, if without limits */
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
    enum time_unit unit;  /* of times; set by the caller */
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

/* Returns the least heap with that young generation of MODEL_YOUNG; NULL with limits. */
const struct least_heap *simulation_least_heap(const struct simulation *simulation,
                                               const struct generations *model);

/* The forms of the result. */
void simulation_print_text(const struct simulation *simulation);
/* For output_file_print(). */
bool simulation_print_picture(const void *simulation, FILE *out);
void simulation_print_csv(const struct simulation *simulation);
void simulation_print_json(const struct simulation *simulation);

#endif
