/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that replace routines (agent/hotspot/routines.h), and the proof that compilers keep the
 * calls. */
#include "agent/bytecode/java_probes.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/bytecode/quick_events.h"
#include "agent/bytecode/vm_objects.h"
#include "agent/hotspot/compilations.h"
#include "agent/hotspot/routines.h"
#include "agent/records/method_counts.h"
#include "agent/rewriter/rewrite.h"

typedef double (*routine_of_double)(double);

static struct {
    struct routine routine; /* of JDK 17, of later ones */
    _Atomic enum leaf_mode mode;
    bool proven;
} tan_calls = {.routine = {.names = {"libmTan", "dtan"}}};

#define LEAF_PROBES_MASK ((UINT64_C(1) << (LEAF_TAG_SHIFT - LEAF_NUMBER_BITS)) - 1)

/* The calls that leaf_calls_prove() of the probes' class makes, over and over. */
#define PROOF_CALLS 3
#define PROOF_NUMBER 5u
#define PROOF_LOOPS 4000

static struct {
    pthread_t thread;
    uint64_t calls;
    bool wrong;
    jmethodID methods[PROOF_CALLS]; /* the methods that are compiled */
} proof;

/* Handles the next one of the proof's calls; passes others on. */
__attribute__((cold, noinline)) static double take_for_proof(uint64_t bits, double value)
{
    if (!pthread_equal(proof.thread, pthread_self()))
        return value;
    bool is_exit = proof.calls % PROOF_CALLS == PROOF_CALLS - 1;
    proof.wrong |= bits != (leaf_bits(is_exit ? LEAF_EXIT : LEAF_ENTRY) | PROOF_NUMBER);
    proof.calls++;
    return 0;
}

/* ---- method=count ----
 * Whole probes like those of quick_events.h for the usual case: the thread's table counts the Java
 * thread that runs, the method has a cell, the exit is of the innermost call. Times are those of
 * the processor's counter (engine_bytecode.c: enable_methods()); without times, `open` of cells
 * means nothing. */

/* Returns true if the thread is marked as in a probe and its table can be used. */
QUICK bool begin_count_quickly(struct quick *quick)
{
    if (!begin_quickly(quick, 0, false))
        return false;
    const struct call_counts *counts = quick->os->counts;
    if (__builtin_expect(counts != NULL, 1) &&
        __builtin_expect(counts->session == quick->session->number, 1) &&
        __builtin_expect(counts->owner == quick->java, 1))
        return true;
    probe_leave(quick->os);
    return false;
}

QUICK struct count_cell *cell_quickly(const struct quick *quick, uint32_t number, uint64_t *method)
{
    return method_quickly(quick, number, method) ? count_cell_known(quick->os->counts, *method)
                                                 : NULL;
}

QUICK bool counts_have_times(const struct quick *quick)
{
    return quick->session->options.resolution_ns != 0;
}

QUICK bool count_entry_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method;
    if (!begin_count_quickly(&quick))
        return false;
    struct call_stack *stack = call_stack_of(quick.session->number, quick.java);
    struct count_cell *cell = cell_quickly(&quick, number, &method);
    bool done =
        cell != NULL && stack != NULL && __builtin_expect(stack->depth != stack->capacity, 1);
    if (done)
        count_open(cell, stack,
                   (struct open_call){count_key(number), method,
                                      counts_have_times(&quick) ? clock_counter() : 0, 0});
    probe_leave(quick.os);
    return done;
}

QUICK bool count_exit_quickly(uint32_t number)
{
    struct quick quick;
    if (!begin_count_quickly(&quick))
        return false;
    struct call_stack *stack = call_stack_of(quick.session->number, quick.java);
    const struct open_call *call = stack != NULL && __builtin_expect(stack->depth != 0, 1)
                                       ? &stack->calls[stack->depth - 1]
                                       : NULL;
    bool done = call != NULL && __builtin_expect(call->key == count_key(number), 1);
    if (done && counts_have_times(&quick))
        count_close(count_cell_known(quick.os->counts, call->method), stack, clock_counter(),
                    false);
    else if (done)
        stack->depth--;
    probe_leave(quick.os);
    return done;
}

QUICK bool count_call_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method;
    if (!begin_count_quickly(&quick))
        return false;
    struct count_cell *cell = cell_quickly(&quick, number, &method);
    if (cell != NULL)
        cell->calls++;
    probe_leave(quick.os);
    return cell != NULL;
}

QUICK uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

QUICK uint64_t probe_of(uint64_t bits)
{
    return bits >> LEAF_NUMBER_BITS & LEAF_PROBES_MASK;
}

QUICK uint32_t leaf_calls_number_of(uint64_t bits)
{
    return (uint32_t) bits & ((1u << LEAF_NUMBER_BITS) - 1);
}

QUICK double take_count(double value)
{
    uint32_t number = leaf_calls_number_of(bits_of(value));
    switch (probe_of(bits_of(value))) {
    case LEAF_ENTRY:
        return count_entry_quickly(number) ? 0 : value;
    case LEAF_EXIT:
        return count_exit_quickly(number) ? 0 : value;
    case LEAF_CALL:
        return count_call_quickly(number) ? 0 : value;
    default:
        return value;
    }
}

QUICK double leaf_calls_take_event(double value)
{
    uint32_t number = leaf_calls_number_of(bits_of(value));
    switch (probe_of(bits_of(value))) {
    case LEAF_ENTRY:
        return enter_quickly(number, false) ? 0 : value;
    case LEAF_EXIT:
        return leave_quickly(number) ? 0 : value;
    case LEAF_CALL:
        return call_quickly(number) ? 0 : value;
    case LEAF_ENTRY_NEW:
        return construct_quickly(number, 0) ? 0 : value;
    case LEAF_ENTRY_SUPER:
        return construct_quickly(number, FRAME_IN_SUPER) ? 0 : value;
    case LEAF_ENTRY_THIS:
        return enter_this_quickly(number) ? 0 : value;
    case LEAF_CONSTRUCTED:
        return constructed_quickly(number) ? 0 : value;
    case LEAF_ALLOC:
        return made_quickly() ? 0 : value;
    default:
        return value;
    }
}

/* `count` takes the same value: a function of its own, which saves no registers for events.
 *
 * Every call of Math.tan() in compiled code comes here, also the program's. So a value is compared
 * first, with one shift, and whatever is no probe goes to the JVM's routine. A NaN with this tag
 * comes from no computation: arithmetic makes the processor's default NaN or passes on an operand's
 * bits. Only a program that makes one on purpose would be taken for a probe. The result 0 says that
 * the probe is done; the same value says that the native method must be called.
 *
 * The mode is loaded relaxed: code that was compiled with this address calls it at any time, also
 * when no session is recorded. Then begin_quickly() finds none. */
QUICK double take_tan(double value, routine_of_double count)
{
    if (__builtin_expect(bits_of(value) >> LEAF_TAG_SHIFT != LEAF_TAG, 0))
        return ((routine_of_double) tan_calls.routine.address)(value);
    enum leaf_mode mode = atomic_load_explicit(&tan_calls.mode, memory_order_relaxed);
    if (mode == LEAF_COUNT)
        return count(value);
    if (__builtin_expect(mode != LEAF_RECORD, 0))
        return mode == LEAF_PROVE ? take_for_proof(bits_of(value), value) : value;
    return leaf_calls_take_event(value);
}

__attribute__((noinline)) static double count_plain(double value)
{
    return take_count(value);
}

/* Replaces Math.tan(): it neither calls the JVM nor waits. */
static double on_tan_plain(double value)
{
    return take_tan(value, count_plain);
}

/* Code with 64-byte vectors leaves their upper parts in use. Each change between instructions of
 * the older encoding and of AVX then takes some 20 ns, twice per probe. This version uses AVX only,
 * like the code around it. */
#if defined(__x86_64__)
#define AVX __attribute__((target("avx"), flatten, noinline))

AVX static double count_avx(double value)
{
    return take_count(value);
}

AVX static double on_tan_avx(double value)
{
    return take_tan(value, count_avx);
}

static uintptr_t on_tan(void)
{
    return (uintptr_t) (__builtin_cpu_supports("avx") ? on_tan_avx : on_tan_plain);
}
#else
static uintptr_t on_tan(void)
{
    return (uintptr_t) on_tan_plain;
}
#endif

bool leaf_calls_possible(void)
{
    if (!routine_find(&tan_calls.routine))
        internal_settled(INTERNAL_TAN,
                         "the JVM does not publish its routine, or where it is stored");
    return tan_calls.routine.variable != NULL;
}

/* Handles the interpreter's calls, which do not use the replaced variable. */
static void JNICALL proof_entered(JNIEnv *jni, jclass class, jint number)
{
    (void) jni, (void) class;
    take_for_proof(leaf_bits(LEAF_ENTRY) | (uint32_t) number, 0);
}

static void JNICALL proof_left(JNIEnv *jni, jclass class, jint number)
{
    (void) jni, (void) class;
    take_for_proof(leaf_bits(LEAF_EXIT) | (uint32_t) number, 0);
}

static bool link_proof(JNIEnv *jni, jclass probes)
{
    static char entry[] = "proofEntryAside", exit[] = "proofExitAside", descriptor[] = "(I)V";
    const JNINativeMethod methods[] = {
        {entry, descriptor, (void *) (uintptr_t) proof_entered},
        {exit, descriptor, (void *) (uintptr_t) proof_left},
    };
    static const char *const names[PROOF_CALLS] = {"proofEntry", "proofExit", "prove"};
    if (!natives_register(jni, probes, methods, 2))
        return false;
    for (int i = 0; i < PROOF_CALLS; i++)
        if ((proof.methods[i] = (*jni)->GetStaticMethodID(jni, probes, names[i], "(I)V")) == NULL)
            return false;
    return true;
}

/* Where the calls of the proof come from. */
struct proof_run {
    JNIEnv *jni;
    jclass probes;
};

/* Returns true if every call of the loop was made once and in order. The loop of the probes' class
 * calls entry, entry, exit with equal arguments. A compiler that takes Math.tan() for a function
 * without effects would merge the two entries, move a call out of the loop, or drop it, as the
 * result is compared with 0 only. The count and the order show each of these. */
static bool run_proof(void *context)
{
    const struct proof_run *run = context;
    JNIEnv *jni = run->jni;
    uint64_t wanted = proof.calls + (uint64_t) PROOF_CALLS * PROOF_LOOPS;
    (*jni)->CallStaticVoidMethod(jni, run->probes, proof.methods[2], (jint) PROOF_LOOPS);
    if (!(*jni)->ExceptionCheck(jni) && !proof.wrong && proof.calls == wanted)
        return true;
    internal_settled(INTERNAL_TAN, "calls were lost or out of order");
    return false;
}

/* Runs all code of the loop: interpreted, C1 and C2. The routine is replaced before the loop is
 * compiled, since the address is read at compilation. Compiled methods are reported by the JVM, so
 * the test knows when it has seen both compilers, and fails if that does not happen: code that was
 * not tested is not trusted. */
static bool prove_own(JNIEnv *jni, jclass probes)
{
    if (!link_proof(jni, probes))
        return false;
    proof.thread = pthread_self();
    atomic_store(&tan_calls.mode, LEAF_PROVE);
    routine_replace(&tan_calls.routine, on_tan());
    int after =
        compilations_prove(proof.methods, PROOF_CALLS, run_proof, &(struct proof_run){jni, probes});
    if (after == 0)
        internal_settled(INTERNAL_TAN, "no compiled code showed in time that calls are kept");
    atomic_store(&tan_calls.mode, LEAF_LEAVE);
    return after > 0;
}

static bool leaf_calls_prove(JNIEnv *jni, jclass probes)
{
    jthrowable of_program = exception_set_aside(jni);
    bool proven = prove_own(jni, probes);
    exception_restore(jni, of_program, !proven, THROWN_BY_JAVA);
    return proven;
}

void leaf_calls_use(JNIEnv *jni, jclass probes, enum leaf_mode mode)
{
    if (tan_calls.routine.variable == NULL || !internal_is_allowed(INTERNAL_TAN))
        return;
    if (!tan_calls.proven && internals_are_to_be_proven() &&
        !(tan_calls.proven = leaf_calls_prove(jni, probes))) {
        internal_settled(INTERNAL_TAN, "the self-test could not be run");
        tan_calls.routine.variable = NULL;
        return;
    }
    internal_settled(INTERNAL_TAN, NULL);
    atomic_store(&tan_calls.mode, mode);
    routine_replace(&tan_calls.routine, on_tan());
}

/* Code that was compiled meanwhile keeps calling the agent's function, for as long as it lives.
 * That function therefore works without a session, too: every probe then finds none and goes to its
 * native method. */
void leaf_calls_end(void)
{
    atomic_store(&tan_calls.mode, LEAF_LEAVE);
    routine_replace(&tan_calls.routine, 0);
}
