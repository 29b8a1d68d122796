/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one stream that wait until a constructor's object is known: its entry comes first in
 * the buffer, then, inside, the object's allocation; in the trace the allocation comes first.
 */
#ifndef FORMAT_LIVE_CONSTRUCTOR_WINDOW_H
#define FORMAT_LIVE_CONSTRUCTOR_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/live.h"

struct window_event {
    enum step_live_kind kind; /* ALLOC, EXISTING, ENTRY, EXIT, FRAME_POP, THREAD_END,
                                 REFERENCE: words 1 to 3 as name, object and stack */
    uint64_t ticks;
    uint64_t thread;
    uint64_t name; /* class and size, method or thread */
    uint64_t object;
    uint64_t stack;   /* of an allocation, 0: not known */
    uint64_t partner; /* ENTRY: place of the allocation to put before it, and one; ALLOC: place of
                         that entry, and one */
    bool is_put;
};

struct constructor_window;

/* Takes what leaves the window, in order; `number` is its place among the stream's records. */
typedef enum step_status window_put(void *context, uint64_t number,
                                    const struct window_event *event);

struct constructor_window *window_create(void); /* NULL: out of memory */
void window_destroy(struct constructor_window *window);
/* What follows waits; `number` is that of the next event.  Nothing if it is open. */
void window_open(struct constructor_window *window, uint64_t number);
bool window_is_open(const struct constructor_window *window);
/* Adds an event to an open window; one that has grown too long is closed. */
enum step_status window_add(struct constructor_window *window, const struct window_event *event,
                            window_put *put, void *context);
/* The entry that stands `distance` events back has this object. */
void window_construct(struct constructor_window *window, uint64_t distance, uint64_t object);
/* Puts all, allocations before the outermost entry of their object's constructors. */
enum step_status window_close(struct constructor_window *window, window_put *put, void *context);
/* The stream goes on in another chunk. */
void window_cross_chunks(struct constructor_window *window);
/* How many of the stream's raw records are written for good when `written` records are. */
uint64_t window_settled(struct constructor_window *window, uint64_t written);

#endif
