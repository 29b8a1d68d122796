/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routines of the JVM that compiled code calls as plain C functions, by an address that lies in a
 * variable of the JVM and is read when code is compiled; another function may stand there.
 */
#ifndef AGENT_HOTSPOT_ROUTINES_H
#define AGENT_HOTSPOT_ROUTINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct routine {
    const char *names[2];        /* by which the JVM tells of it, in whatever JDK */
    uintptr_t address;           /* 0: not looked for, or it tells of none */
    _Atomic uintptr_t *variable; /* NULL: none, or more than one word has that address */
    size_t places;
};

/* Whether its variable is known; looked for once. */
bool routine_find(struct routine *routine);
/* What is compiled from now on calls `function`; 0: the JVM's own again. */
void routine_replace(const struct routine *routine, uintptr_t function);

#endif
