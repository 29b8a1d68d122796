/* SPDX-License-Identifier: Apache-2.0 */
/* A small trace of a Java program, written record by record.  Times are in ticks of 1 us. */
#ifndef TESTS_UNIT_ANALYSES_SMALL_TRACE_H
#define TESTS_UNIT_ANALYSES_SMALL_TRACE_H

#include <stdint.h>

#include "steptrace/java_trace.h"

/* A name that breaks what does not escape it, and its forms in JSON (read back), in a terminal and
 * in a field of CSV. */
#define HOSTILE_NAME "a</script>\"\n\x1b[2J,'&"
#define HOSTILE_SHOWN "a</script>\"\\x0a\\x1b[2J,'&"

/* Begins a trace in the scratch directory, with the thread 1 ("main") and the class 1 ("java/lang/
 * Class").  The events of all threads are in the order in which they are put. */
void small_trace_begin(const char *name);
/* Ends it and returns its path. */
char *small_trace_end(void);
struct step_writer *small_trace_writer(void);

void small_property(const char *key, const char *value);
uint64_t small_class(const char *name);
uint64_t small_method(uint64_t class_id, const char *name);
uint64_t small_thread(const char *name);
/* A frame at a line of a method, called by `parent` (0: none). */
uint64_t small_frame(uint64_t parent, uint64_t method, uint64_t line);
/* The clock that events get their times from. */
extern uint64_t small_now;
/* An object of the thread 1; `stack` 0: without one. */
uint64_t small_alloc(uint64_t class_id, uint64_t size, uint64_t stack);
void small_free(uint64_t object);
/* The virtual machine is started and ready. */
void small_start(void);
/* The virtual machine ends. */
void small_death(void);

#endif
