/* SPDX-License-Identifier: Apache-2.0 */
/* Watches which compilers have compiled a few methods, for self-tests that must hold for any code
 * of a method. */
#ifndef AGENT_HOTSPOT_COMPILATIONS_H
#define AGENT_HOTSPOT_COMPILATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#define COMPILATIONS_METHODS 3u /* at the most */

/* Starts watching, until compilations_end(). Returns false if this JVM does not report
 * compilations. One watch at a time. */
bool compilations_watch(const jmethodID *methods, size_t count);
void compilations_end(void);
/* Returns true if C1 and C2 have compiled each method; only C2 without tiers
 * (-XX:-TieredCompilation). */
bool compilations_are_made(void);
/* Returns true if the JVM compiles nothing (-Xint). */
bool compilations_never_come(void);
/* Waits a little between two checks. */
void compilations_wait(void);

#endif
