/* SPDX-License-Identifier: Apache-2.0 */
/* The agent with faults.  In a JVM that does not announce all its collections: with
 * STEPTRACE_ANNOUNCED=N in the environment it hears of the first N of them only.  The objects move
 * all the same.  The linker puts these functions before the agent's own (--wrap). */
#include <stdlib.h>

#include "agent/base/tracer.h"
#include "agent/deaths/recycle.h"
#include "agent/records/hold.h"
#include "agent/stacks/frame_walk.h"

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

/* STEPTRACE_MISREAD=N: from the Nth walk on each stack looks like the first one of its thread. */
bool __real_frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                       struct stack_key *key);
bool __wrap_frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                       struct stack_key *key);

bool __wrap_frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                       struct stack_key *key)
{
    static _Atomic unsigned long walks;
    static _Thread_local struct stack_key first;
    const char *text = getenv("STEPTRACE_MISREAD");
    if (!__real_frame_walk(walker, jni, limit, key))
        return false;
    if (first.low == 0)
        first = *key;
    if (text != NULL && atomic_fetch_add(&walks, 1) >= strtoul(text, NULL, 10))
        *key = first;
    return true;
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
