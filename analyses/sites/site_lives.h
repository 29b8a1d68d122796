/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of each allocation site (class and call stack) and how long they lived, in one pass
 * over the events of a trace.  Memory is some 100 bytes for each living object, and some 300 bytes
 * and two histograms (lifetimes.h) for each site.
 */
#ifndef ANALYSES_SITES_SITE_LIVES_H
#define ANALYSES_SITES_SITE_LIVES_H

#include "converter/containers/lifetimes.h"
#include "converter/containers/object_table.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "format/core/hash_index.h"
#include "steptrace/status.h"

struct site_key {
    uint32_t class_id;
    uint32_t stack_id; /* innermost frame in the names; 0: the trace has no call stack */
};

struct site_amount {
    uint64_t objects, bytes;
};

/* Elements of arrays. */
struct site_elements {
    uint64_t arrays;
    uint64_t capacity; /* without struct site_lives.has_lengths the most that the sizes allow */
    uint64_t used, used_most; /* of arrays of references: so many at least, at most */
};

/* References to and from a site's objects, which site_stores.c counts. */
struct site_references {
    struct site_amount stored; /* objects to which a field, an element or a root referred */
    uint64_t growths;          /* times that a field of an object got a longer array */
    uint64_t shrinkings;       /* times that it got a shorter one */
    uint64_t replaced_bytes;   /* of the arrays that were there before */
    uint64_t longer;           /* objects that were the longer array */
    uint64_t grown_objects;    /* objects with such a field */
    /* The last array of each growth: it replaced a shorter one, and no longer one replaced it. */
    uint64_t final_bytes;
    struct site_elements of_references, of_primitives;
};

struct site_life {
    struct site_key key;
    struct site_amount born; /* in the trace: not those that existed before */
    struct site_amount dead;
    struct lifetimes in_bytes; /* bytes allocated from birth to death, of the dead */
    struct lifetimes in_time;  /* ns */
    uint64_t bounds;           /* dead objects of which only a lower bound of the death is known, */
    uint64_t late;             /* and those with an upper bound: a collection found them dead */
    /* Died, or survived SURVIVED_OLD collections; of these, those that survived. */
    struct site_amount decided, old;
    /* Died before the next `within` births of the site; and of how many that is known. */
    struct site_amount reusable;
    uint64_t reuse_decided;
    uint64_t living, most_living; /* objects, now and at most at any time */
    /* Born when the thread's previous object of the site, of the same size, was dead. */
    struct site_amount repeated;
    uint64_t last_object, last_size;
    uint32_t last_thread;
    bool last_is_dead;
    struct site_references references;
};

#define SURVIVED_OLD 2u

struct site_born {
    uint64_t position; /* bytes born before */
    uint64_t births;   /* of the site, this object included */
    uint64_t time_ns;
    uint64_t collections; /* finished by then; in a released entry: 1 + the next one */
};

struct site_lives {
    const char *path; /* of the trace, for messages; set by the caller, borrowed */
    struct site_life *items;
    size_t count, capacity;
    struct step_index index;  /* by key */
    struct object_table live; /* value: index in `births`; class_id: the site */
    struct site_born *births;
    size_t birth_count, birth_capacity;
    size_t free_birth; /* 1 + the first released entry; 0: none */
    struct collection_clock clock;
    struct death_dates deaths;
    struct site_amount born, existing;
    uint64_t unknown_frees;
    uint64_t last_ns;
    uint64_t within;      /* of `reusable`; set by the caller */
    uint64_t young_bytes; /* not 0: a collection for each so many bytes of births, instead of
                             those of the trace; set by the caller */
    bool has_lengths;     /* the trace has the lengths of arrays; set by site_stores_count() */
    bool is_native;       /* the program frees its objects itself; set by the caller */
    bool has_stacks;
};

void site_lives_init(struct site_lives *lives);
void site_lives_reset(struct site_lives *lives);

enum step_status site_lives_put(void *site_lives_pointer, const struct trace_event *events,
                                size_t count, struct step_error *error);
/* Call it after the last event: decides for the objects that are still alive. */
void site_lives_finish(struct site_lives *lives);

/* Returns the site's number, adding it if necessary; UINT32_MAX if out of memory. */
uint32_t site_lives_get(struct site_lives *lives, struct site_key key);

/* Returns the number of collections. */
uint64_t site_lives_collections(const struct site_lives *lives);

/* How a site's lifetimes are to be read: as they are, as upper bounds, or as estimates. */
enum lifetime_meaning {
    LIFETIMES_EXACT,
    LIFETIMES_AT_MOST,
    LIFETIMES_ESTIMATED,
    LIFETIME_MEANINGS
};
extern const char *const lifetime_words[LIFETIME_MEANINGS];
static inline enum lifetime_meaning site_meaning(const struct site_life *life)
{
    if (life->bounds > 0)
        return LIFETIMES_ESTIMATED;
    return life->late > 0 ? LIFETIMES_AT_MOST : LIFETIMES_EXACT;
}

/* What the ends of lifetimes are. */
enum site_precision {
    SITE_NO_DEATHS, /* the trace has none */
    SITE_EXACT,     /* the objects' deaths: freed by the program, or all dated exactly */
    SITE_DATED,     /* some are lower bounds, or only their collection is known */
    SITE_DELAYED,   /* the collections that found them dead: upper bounds */
};
enum site_precision site_lives_precision(const struct site_lives *lives);

/*
 * site_stores.c: counts at each allocation site which objects were ever stored, which got a longer
 * array in place of a shorter one, and how many elements of the longest were used, in one pass over
 * the references of a trace.  Memory is some 90 bytes for each living object, and 8 to 16 for each
 * of its fields that has an array.  Returns END, without an error, if the trace has no stores of
 * references.
 */
struct step_reader;
enum step_status site_stores_count(struct step_reader *reader, struct site_lives *lives,
                                   struct step_error *error);

#endif
