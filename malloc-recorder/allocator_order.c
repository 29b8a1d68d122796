/* SPDX-License-Identifier: Apache-2.0 */
/* Goes by the recorder's own import slots: the dynamic linker binds them as it does the program's.
 * dlsym() would not do, as it may return the address of an entry of the program's PLT. */
#include "malloc-recorder/allocator_order.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "malloc-recorder/drain/sanitizers.h"
#include "malloc-recorder/import_slots.h"
#include "malloc-recorder/recorder.h"

/* The dynamic linker binds them; a search by dlsym() would allocate. */
#define X(function, name) extern void function(void) __attribute__((weak));
SANITIZERS(X)
#undef X

const char *sanitizer_find(void)
{
#define X(function, name)                                                                          \
    if (function != NULL)                                                                          \
        return name;
    SANITIZERS(X)
#undef X
    return NULL;
}

static void look_at_own_slot(void *user, const struct import_slot *slot)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "free"};
    const char **found = user;
    const char *self = (const char *) &recorder;
    Dl_info info;
    if (slot->is_inside || self < slot->first || self >= slot->end)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(slot->name, names[i]) == 0 && dladdr(*slot->place, &info) != 0)
            *found = info.dli_fname;
}

const char *allocator_in_front(void)
{
    const char *found = NULL;
    import_slots_each(look_at_own_slot, &found);
    return found;
}
