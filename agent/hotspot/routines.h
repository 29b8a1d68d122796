/* SPDX-License-Identifier: Apache-2.0 */
/* Routines of the JVM that compiled code calls as plain C functions. Their address is in a variable
 * of the JVM, which is read when code is compiled, and can be replaced by another function. */
#ifndef AGENT_HOTSPOT_ROUTINES_H
#define AGENT_HOTSPOT_ROUTINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct routine {
    const char *names[2];        /* under which JDKs report it */
    uintptr_t address;           /* 0: not searched yet, or not reported */
    _Atomic uintptr_t *variable; /* NULL: no word, or more than one, has that address */
    size_t places;
};

/* Returns true if the routine's variable is known; searches for it once. */
bool routine_find(struct routine *routine);
/* Code that is compiled from now on calls `function`; 0: the JVM's own routine again. */
void routine_replace(const struct routine *routine, uintptr_t function);

#endif
