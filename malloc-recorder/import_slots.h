/* SPDX-License-Identifier: Apache-2.0 */
/* Import slots: where the loaded libraries keep the addresses of imported functions. */
#ifndef MALLOC_RECORDER_IMPORT_SLOTS_H
#define MALLOC_RECORDER_IMPORT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

struct import_slot {
    const char *name;
    const char *library; /* "" for the program itself */
    void **place;
    const char *first, *end; /* addresses of the library */
    bool is_read_only;       /* after relocation */
    bool is_inside; /* its target is in that library: bound to its own function, or not bound yet */
};

typedef void (*import_visit)(void *user, const struct import_slot *slot);
void import_slots_each(import_visit visit, void *user);
void import_slot_set(const struct import_slot *slot, void *function);

#endif
