/* SPDX-License-Identifier: Apache-2.0 */
/* State of the HotSpot internals. A session keeps the first refusal of each, which overrides its
 * use. */
#include "agent/base/internals.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"

static const char *const names[INTERNAL_COUNT] = {
#define INTERNAL_ROW(enumerator, text) text,
    INTERNALS(INTERNAL_ROW)
#undef INTERNAL_ROW
};

/* JDKs with which all internals were tested. */
static const int tested[] = JAVA_TESTED;

static struct {
    pthread_mutex_t lock;
    _Atomic uint32_t allowed;
    bool proven;
    bool is_tested; /* a HotSpot with which all internals were tested */
    uint32_t never; /* refused on this JVM */
    const char *never_reason;
    const char *writes_fault;
    bool asked;
    bool used[INTERNAL_COUNT];
    const char *refused[INTERNAL_COUNT];
    char *published;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* HotSpots of tested versions that differ from the tested builds, and the internals that must not
 * be used there even if their self-test passes. */
static const struct {
    const char *property, *word;
    uint32_t never;
    const char *reason;
} families[] = {
    {"java.vm.version", "debug", 0, NULL},
    {"java.vm.version", "jvmci", 0, NULL},
    {"java.vm.vendor", "JetBrains", INTERNALS_OF_ADDRESSES,
     "not where class redefinition may move objects"},
};

/* The VM's name excludes Zero, whose machine code the C++ compiler makes. Debug builds have other
 * layouts. */
static void ask_vm(void)
{
    for (size_t i = 0; i < sizeof tested / sizeof tested[0]; i++)
        state.is_tested |= tracer.java_major == tested[i];
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (jvm_property_has(families[i].property, families[i].word)) {
            state.is_tested = false;
            state.never |= families[i].never;
            state.never_reason = families[i].reason;
        }
    if (!jvm_property_has("java.vm.name", "64-Bit Server VM")) {
        state.is_tested = false;
        state.never_reason = "not on this JVM";
        state.never |= UINT32_C(1) << INTERNAL_FRAMES;
    }
}

/* Writes the first byte last, so that a reader of the file always finds a terminated text. */
static void publish(void)
{
    char text[INTERNALS_TEXT] = "";
    if (state.published == NULL)
        return;
    internals_describe(text);
    state.published[0] = '\0';
    memcpy(state.published + 1, text + 1, sizeof text - 1);
    atomic_signal_fence(memory_order_seq_cst);
    state.published[0] = text[0];
}

/* The caller holds the lock. */
static void internals_refuse(uint32_t internals, const char *reason)
{
    atomic_fetch_and(&state.allowed, ~internals);
    for (int i = 0; i < INTERNAL_COUNT; i++)
        if ((internals >> i & 1) != 0 && state.refused[i] == NULL)
            state.refused[i] = reason;
}

void internals_switch_off_writes(const char *reason)
{
    pthread_mutex_lock(&state.lock);
    if (state.writes_fault == NULL) {
        state.writes_fault = reason;
        internals_refuse(INTERNALS_WRITES, reason);
        publish();
    }
    pthread_mutex_unlock(&state.lock);
}

const char *internals_writes_fault(void)
{
    pthread_mutex_lock(&state.lock);
    const char *fault = state.writes_fault;
    pthread_mutex_unlock(&state.lock);
    return fault;
}

void internals_begin(uint32_t allowed, bool proven)
{
    pthread_mutex_lock(&state.lock);
    if (!state.asked)
        ask_vm();
    state.asked = true;
    state.proven = proven;
    atomic_store(&state.allowed, allowed);
    memset(state.used, 0, sizeof state.used);
    memset(state.refused, 0, sizeof state.refused);
    internals_refuse(~allowed, "option internals");
    internals_refuse(state.never, state.never_reason);
    if (state.writes_fault != NULL)
        internals_refuse(INTERNALS_WRITES, state.writes_fault);
    pthread_mutex_unlock(&state.lock);
}

/* Relaxed: the bit only ends a technique, at some later moment. Whoever must not use one any more
 * from a certain point on is stopped by that technique's own means (holds_forbid(),
 * end_writes()). */
bool internal_is_allowed(enum internal internal)
{
    return (atomic_load_explicit(&state.allowed, memory_order_relaxed) >> internal & 1) != 0;
}

bool internals_are_to_be_proven(void)
{
    return state.proven || !state.is_tested;
}

const char *internal_never_reason(enum internal internal)
{
    return (state.never >> internal & 1) != 0 ? state.never_reason : NULL;
}

void internal_settled(enum internal internal, const char *refused)
{
    pthread_mutex_lock(&state.lock);
    if (refused == NULL ? !state.used[internal] : state.refused[internal] == NULL) {
        state.used[internal] |= refused == NULL;
        state.refused[internal] =
            state.refused[internal] != NULL ? state.refused[internal] : refused;
        publish();
    }
    pthread_mutex_unlock(&state.lock);
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t *used,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text + *used, INTERNALS_TEXT - *used, format, arguments);
    va_end(arguments);
    if (written > 0 && *used + (size_t) written < INTERNALS_TEXT)
        *used += (size_t) written;
    else
        text[*used] = '\0';
}

void internals_describe(char text[INTERNALS_TEXT])
{
    size_t used = 0;
    for (int i = 0; i < INTERNAL_COUNT; i++)
        if (state.used[i] && state.refused[i] == NULL)
            append(text, &used, "%s%s", used == 0 ? "" : " ", names[i]);
    if (used == 0)
        append(text, &used, "none");
    bool any = false;
    for (int i = 0; i < INTERNAL_COUNT; i++)
        if (state.refused[i] != NULL) {
            append(text, &used, "%s %s (%s)", any ? "," : "; not", names[i], state.refused[i]);
            any = true;
        }
}

void internals_publish(char *text)
{
    pthread_mutex_lock(&state.lock);
    state.published = text;
    publish();
    pthread_mutex_unlock(&state.lock);
}
