/* SPDX-License-Identifier: Apache-2.0 */
/* Watches which compilers have compiled a few methods, for self-tests that must hold for any code
 * of a method. */
#ifndef AGENT_HOTSPOT_COMPILATIONS_H
#define AGENT_HOTSPOT_COMPILATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#define COMPILATIONS_METHODS 3u /* at the most */

/* Calls `run`, which runs the methods often and returns false if something is wrong, until C1 and
 * C2 have compiled each method (only C2 without tiers: -XX:-TieredCompilation), and a few times
 * after that. Where the JVM compiles nothing (-Xint), calls it as often. Returns how often after
 * that, at most COMPILATIONS_AFTER; 0: they were not compiled; -1: something is wrong, or this JVM
 * does not report compilations. One call at a time. */
#define COMPILATIONS_AFTER 3
int compilations_prove(const jmethodID *methods, size_t count, bool (*run)(void *context),
                       void *context);

#endif
