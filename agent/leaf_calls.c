/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM tells of its routines by name (JVMTI's DynamicCodeGenerated); the variable is the one
 * place in libjvm.so's data that holds the address of that for Math.tan(). */
#include "leaf_calls.h"

#include <link.h>
#include <string.h>

#include "bytecode/rewrite.h"
#include "method_probes.h"

typedef double (*routine_of_double)(double);

static struct {
    _Atomic uintptr_t *variable; /* the JVM's; NULL: not looked for, or there is none */
    uintptr_t routine;           /* the JVM's */
    size_t places;               /* that hold it */
    _Atomic bool records;
} tan_calls;

static routine_of_double routine_at(uintptr_t address)
{
    union {
        uintptr_t address;
        routine_of_double routine;
    } both = {address};
    return both.routine;
}

/* In the place of Math.tan(): no call of the JVM, no wait. */
static double on_tan(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (__builtin_expect(bits >> (LEAF_NUMBER_BITS + 1) != LEAF_TAG, 0))
        return routine_at(tan_calls.routine)(value);
    if (!atomic_load_explicit(&tan_calls.records, memory_order_relaxed))
        return value;
    uint32_t number = (uint32_t) bits & ((1u << LEAF_NUMBER_BITS) - 1);
    bool done = (bits >> LEAF_NUMBER_BITS & 1) != 0 ? method_left_quickly(number)
                                                    : method_entered_quickly(number);
    return done ? 0 : value;
}

static void JNICALL on_routine(jvmtiEnv *jvmti, const char *name, const void *address, jint length)
{
    (void) jvmti, (void) length;
    if (strcmp(name, "libmTan") == 0 || strcmp(name, "dtan") == 0) /* JDK 17; later ones */
        tan_calls.routine = (uintptr_t) address;
}

/* With an environment of its own: the tracer's need not know this event. */
static void find_routine(void)
{
    jvmtiEnv *jvmti = NULL;
    jvmtiEventCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.DynamicCodeGenerated = on_routine;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **) &jvmti, JVMTI_VERSION_11) != JNI_OK)
        return;
    if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
                                           NULL) == JVMTI_ERROR_NONE)
        (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    (*jvmti)->DisposeEnvironment(jvmti);
}

static void search(uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = (from + 7) & ~(uintptr_t) 7; at + 8 <= to; at += 8) {
        _Atomic uintptr_t *word = (_Atomic uintptr_t *) at;
        if (atomic_load_explicit(word, memory_order_relaxed) != tan_calls.routine)
            continue;
        tan_calls.variable = word;
        tan_calls.places++;
    }
}

static int search_library(struct dl_phdr_info *library, size_t size, void *unused)
{
    (void) size, (void) unused;
    const char *name = strrchr(library->dlpi_name, '/');
    if (name == NULL || strcmp(name, "/libjvm.so") != 0)
        return 0;
    for (size_t i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        uintptr_t start = library->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0)
            search(start, start + part->p_memsz);
    }
    return 1;
}

bool leaf_calls_possible(void)
{
#if defined(__x86_64__)
    if (tan_calls.routine == 0) {
        find_routine();
        if (tan_calls.routine != 0)
            dl_iterate_phdr(search_library, NULL);
        if (tan_calls.places != 1)
            tan_calls.variable = NULL;
    }
#endif
    return tan_calls.variable != NULL;
}

void leaf_calls_use(bool record)
{
    if (tan_calls.variable == NULL)
        return;
    atomic_store(&tan_calls.records, record);
    atomic_store(tan_calls.variable, (uintptr_t) on_tan);
}

void leaf_calls_end(void)
{
    if (tan_calls.variable != NULL)
        atomic_store(tan_calls.variable, tan_calls.routine);
}
