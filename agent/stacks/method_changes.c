/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own changes are counted before and after. Those of other agents are only seen when
 * they begin, in the class file hook, and not where that is off. They take effect in a safepoint.
 * So from the first of them on, or always without the hook, an age for jmethodIDs has the JVM's
 * counters of safepoints, too: the first changes when one begins, the second when it ends. */
#include "agent/stacks/method_changes.h"

#include "agent/base/patience.h"
#include "agent/hotspot/vm_structs.h"
#include "format/core/hash.h"

#define SETTLES_NS SECOND_NS
#define HOLDS_NS UINT64_C(4000000)

static struct {
    _Atomic uint32_t age;
    _Atomic uint64_t settled_ns; /* 0: no other agent has changed a method */
} changes;

static __thread uint32_t own __attribute__((tls_model("initial-exec")));

void method_changes_begin(void)
{
    own++;
    atomic_fetch_add(&changes.age, 1);
}

void method_changes_end(void)
{
    own--;
    atomic_fetch_add(&changes.age, 1);
}

void method_changes_of_others(void)
{
    if (own != 0)
        return;
    atomic_store(&changes.settled_ns, clock_monotonic_ns() + SETTLES_NS);
    atomic_fetch_add(&changes.age, 2);
}

uint32_t method_changes_age(void)
{
    return atomic_load_explicit(&changes.age, memory_order_acquire);
}

/* Without the counters (-XX:-UsePerfData) what is remembered holds for some milliseconds. */
static uint32_t safepoints(void)
{
    static const volatile int64_t *_Atomic begun, *_Atomic time;
    static _Atomic bool looked;
    if (!atomic_load(&looked)) {
        atomic_store(&time, vm_counter("sun.rt.safepointTime"));
        atomic_store(&begun, vm_counter("sun.rt.safepoints"));
        atomic_store(&looked, true);
    }
    const volatile int64_t *count = atomic_load(&begun), *sum = atomic_load(&time);
    if (count == NULL || sum == NULL)
        return (uint32_t) (clock_monotonic_ns() / HOLDS_NS);
    return (uint32_t) step_hash_join((uint64_t) *count, (uint64_t) *sum);
}

uint32_t method_changes_moment(const struct session *session)
{
    uint32_t age = method_changes_age();
    bool are_seen = session->options.engine == ENGINE_BYTECODE;
    return are_seen && atomic_load(&changes.settled_ns) == 0 ? age : age + 2 * safepoints();
}

bool method_changes_settled(void)
{
    uint64_t settled_ns = atomic_load_explicit(&changes.settled_ns, memory_order_acquire);
    return settled_ns == 0 || clock_monotonic_ns() >= settled_ns;
}
