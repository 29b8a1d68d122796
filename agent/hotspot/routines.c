/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and replaces routines of the JVM. The JVM reports them by name (JVMTI's
 * DynamicCodeGenerated). The variable is the only word in libjvm.so's data that holds the
 * address. */
#include "agent/hotspot/routines.h"

#include <link.h>
#include <string.h>

#include "agent/base/tracer.h"

static struct routine *wanted; /* one at a time, while the JVM starts or under control_lock */

/* JDK 25 and earlier have the plain name; 26 "Stub Generator dtan_stub", 27 "dtan_stub (stub gen)".
 */
static bool is_name_of(const char *name, const char *routine)
{
    static const char prefix[] = "Stub Generator ", suffix[] = "_stub";
    size_t length = strlen(routine);
    if (strcmp(name, routine) == 0)
        return true;
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    if (strncmp(name, routine, length) != 0 ||
        strncmp(name + length, suffix, sizeof suffix - 1) != 0)
        return false;
    const char *rest = name + length + sizeof suffix - 1;
    return rest[0] == '\0' || strcmp(rest, " (stub gen)") == 0;
}

static void JNICALL on_routine(jvmtiEnv *jvmti, const char *name, const void *address, jint length)
{
    (void) jvmti, (void) length;
    for (int i = 0; i < 2; i++)
        if (wanted->names[i] != NULL && is_name_of(name, wanted->names[i]))
            wanted->address = (uintptr_t) address;
}

/* Uses a JVMTI environment of its own, so that the tracer's does not need this event. */
static void routines_ask(void)
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

/* Searches the writable data of libjvm.so for the routine's address. Code of the JVM reads the
 * variable when it compiles, so changing it changes what later code calls. It must be found exactly
 * once: with two, nothing says which of them is read. The load is atomic, since other threads of
 * the JVM change other words of that data meanwhile. */
static void routines_search(uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = (from + 7) & ~(uintptr_t) 7; at + 8 <= to; at += 8) {
        _Atomic uintptr_t *word = (_Atomic uintptr_t *) at;
        if (atomic_load_explicit(word, memory_order_relaxed) != wanted->address)
            continue;
        wanted->variable = word;
        wanted->places++;
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
            routines_search(start, start + part->p_memsz);
    }
    return 1;
}

/* Only x86-64's interpreter and compilers call the routine through a variable. */
#if defined(__x86_64__)
#define HAS_ROUTINES true
#else
#define HAS_ROUTINES false
#endif

bool routine_find(struct routine *routine)
{
    if (HAS_ROUTINES && routine->address == 0) {
        wanted = routine;
        routines_ask();
        if (routine->address != 0)
            dl_iterate_phdr(search_library, NULL);
        if (routine->places != 1)
            routine->variable = NULL;
    }
    return routine->variable != NULL;
}

/* One aligned store, sequentially consistent. A compiler that reads the word gets one address or
 * the other, both of which work at any time. */
void routine_replace(const struct routine *routine, uintptr_t function)
{
    if (routine->variable != NULL)
        atomic_store(routine->variable, function != 0 ? function : routine->address);
}
