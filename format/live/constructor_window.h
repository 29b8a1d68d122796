/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window of a stream's records that wait until a constructor's object is known.  In the buffer the
 * constructor's entry precedes the object's allocation; in the trace the allocation comes first.
 */
#ifndef FORMAT_LIVE_CONSTRUCTOR_WINDOW_H
#define FORMAT_LIVE_CONSTRUCTOR_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/live.h"

struct window_event {
    enum step_live_kind kind; /* ALLOC, EXISTING, ENTRY, EXIT, FRAME_POP, THREAD_END; REFERENCE has
                                 its words 1 to 3 in name, object and stack; FACT, a
                                 STEP_LIVE_PHASE, has its two words in name and object */
    uint64_t ticks;
    uint64_t thread;
    uint64_t name; /* class and size, method or thread */
    uint64_t object;
    uint64_t stack;   /* of an allocation, 0: unknown */
    uint64_t partner; /* ENTRY: index plus one of the allocation to put before it; ALLOC: index plus
                         one of that entry */
    bool is_put;
};

struct constructor_window;

/* Receives records that leave the window, in order; `number` is the position among the stream's
 * records. */
typedef enum step_status window_put(void *context, uint64_t number,
                                    const struct window_event *event);

struct constructor_window *window_create(void); /* returns NULL if out of memory */
void window_destroy(struct constructor_window *window);
/* Opens the window: records from the event `number` on wait.  No effect if it is open. */
void window_open(struct constructor_window *window, uint64_t number);
bool window_is_open(const struct constructor_window *window);
/* Adds an event to an open window; closes a window that has grown too long. */
enum step_status window_add(struct constructor_window *window, const struct window_event *event,
                            window_put *put, void *context);
/* Sets the object of the entry `distance` events back. */
void window_construct(struct constructor_window *window, uint64_t distance, uint64_t object);
/* Passes on all records; allocations come before the outermost constructor entry of their
 * object. */
enum step_status window_close(struct constructor_window *window, window_put *put, void *context);
/* Call when the stream continues in another chunk. */
void window_cross_chunks(struct constructor_window *window);
/* Returns how many of the stream's raw records are final in the trace when `written` records
 * are. */
uint64_t window_settled(struct constructor_window *window, uint64_t written);

#endif
