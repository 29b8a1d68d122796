/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Methods that the JVM compiles as they were and not with their probes
 * (-XX:+DontCompileHugeMethods, its default: none over 8,000 bytes).  Those that can do without the
 * probes of their events do so, and the trace names them as it names all that have no probes.  The
 * others are counted here.
 */
#ifndef AGENT_BYTECODE_HUGE_METHODS_H
#define AGENT_BYTECODE_HUGE_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUGE_METHODS_TEXT 2048u

/* A session begins.  Returns the size of the largest method that the JVM compiles, 0 if it compiles
 * all. */
uint32_t huge_methods_begin(void);
/* The method has its probes and will be interpreted; logged the first time. */
void huge_method_add(const char *class_name, const char *method_name, const char *descriptor);
/* "2: a/B.c()V, a/B.d()V", as many as there is room for; false: there are none. */
bool huge_methods_describe(char text[HUGE_METHODS_TEXT]);

#endif
