/* SPDX-License-Identifier: Apache-2.0 */
/* The agent with faults.  In a JVM that does not announce all its collections: with
 * STEPTRACE_ANNOUNCED=N in the environment it hears of the first N of them only.  The objects move
 * all the same.  The linker puts these functions before the agent's own (--wrap). */
#include <stdlib.h>

#include "agent/base/tracer.h"
#include "agent/deaths/recycle.h"
#include "agent/records/hold.h"

void __real_holds_wait(void);
void __wrap_holds_wait(void);

/* STEPTRACE_SESSIONS=N: each session counts as N. */
void __real_recycle_begin(void);
void __wrap_recycle_begin(void);

void __wrap_recycle_begin(void)
{
    const char *text = getenv("STEPTRACE_SESSIONS");
    if (text != NULL)
        atomic_fetch_add(&tracer.session_count, strtoul(text, NULL, 10) - 1);
    __real_recycle_begin();
}

/* As long as it is asked for at all, collections are counted right after it. */
void __wrap_holds_wait(void)
{
    static _Atomic unsigned long heard;
    const char *text = getenv("STEPTRACE_ANNOUNCED");
    if (text == NULL || atomic_fetch_add(&heard, 1) < strtoul(text, NULL, 10))
        __real_holds_wait();
    else
        atomic_fetch_sub(&tracer.collections_begun, 1);
}
