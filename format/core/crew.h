/* SPDX-License-Identifier: Apache-2.0 */
/* A crew: threads that share the numbered parts of one job with their caller. */
#ifndef FORMAT_CORE_CREW_H
#define FORMAT_CORE_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "steptrace/status.h"

struct step_crew;

/* Does one part of a job.  `member` is 0 for the caller of step_crew_run(), and less than
 * the crew's size; no two threads have the same number. */
typedef enum step_status (*step_crew_work)(void *user, unsigned member, size_t part);

/* Returns the number of processors that the process may use, at most 8. */
unsigned step_crew_processors(void);
/* Starts a thread that blocks all signals but SIGXFSZ of its own writes.  Returns false if there is
 * none to be had. */
bool step_thread_start(pthread_t *thread, void *(*work)(void *), void *user);
/* Starts `size` - 1 threads, or as many of them as the system allows.
 * Returns NULL if there are none, or no memory. */
struct step_crew *step_crew_create(unsigned size);
/* Does the parts 0 to `count` - 1, begun in this order.  Returns after all have ended; after a
 * failure no more are begun.  Returns the status of the first part that failed. */
enum step_status step_crew_run(struct step_crew *crew, size_t count, step_crew_work work,
                               void *user);
/* Ends the threads.  `crew` may be NULL. */
void step_crew_destroy(struct step_crew *crew);

#endif
