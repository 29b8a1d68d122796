/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the generator of identity hashes. It is at the same distance from the JNIEnv of each
 * thread, since both are members of the JVM's thread. The distance is found by drawing four hashes
 * and searching for the change; all 128 bits must match the generator's step. */
#include "agent/hotspot/hash_state.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/hash_words.h"
#include "agent/hotspot/peek.h"

#define WINDOW_BYTES 4096u

struct window {
    uint32_t words[WINDOW_BYTES / sizeof(uint32_t)]; /* the last one is right before the JNIEnv */
    size_t count;                                    /* how many of the last ones could be read */
};

/* Distance of the words before a JNIEnv; 0: unknown. */
static _Atomic size_t distance;

/* The agent's words while the JVM's are in place; the program's while the agent's are. */
static __thread struct {
    struct hash_words words;
    unsigned depth;
    bool seeded;
} own __attribute__((tls_model("initial-exec")));

/* Returns the words that are in place while the agent is in. */
static struct hash_words own_now(JNIEnv *jni)
{
    struct hash_words words;
    memcpy(&words, (const char *) jni - atomic_load(&distance), sizeof words);
    return words;
}

/* Reads page by page, backwards. The thread's structure may begin anywhere in the window, and what
 * is before it may not be mapped; the first page that cannot be read ends the window. */
static void read_window(const JNIEnv *jni, struct window *window)
{
    uintptr_t end = (uintptr_t) jni, start = end - WINDOW_BYTES;
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    char *bytes = (char *) window->words;
    window->count = 0;
    for (uintptr_t at = end; at > start;) {
        uintptr_t from = (at - 1) & ~(page - 1);
        from = from > start ? from : start;
        if (!peek(from, bytes + (from - start), at - from))
            return;
        at = from;
        window->count = (end - at) / sizeof window->words[0];
    }
}

static bool draw(JNIEnv *jni, uint32_t hashes[HASH_WORDS])
{
    bool drawn = true;
    jthrowable of_program = exception_set_aside(jni);
    for (size_t i = 0; i < HASH_WORDS && drawn; i++) {
        jint hash = 0;
        jobject object = (*jni)->NewByteArray(jni, 0);
        drawn = object != NULL &&
                (*tracer.jvmti)->GetObjectHashCode(tracer.jvmti, object, &hash) == JVMTI_ERROR_NONE;
        hashes[i] = (uint32_t) hash;
        (*jni)->DeleteLocalRef(jni, object);
    }
    exception_restore(jni, of_program, !drawn, THROWN_BY_ALLOCATION);
    return drawn;
}

/* Tests that the JVM draws from the words written there; otherwise forgets the place. Finding the
 * words proves that they change like the generator's; only a draw after writing proves that they
 * are the generator's, and no copy. */
static void hash_state_prove(JNIEnv *jni)
{
    jint drawn = 0;
    jthrowable of_program = exception_set_aside(jni);
    jobject object = (*jni)->NewByteArray(jni, 0);
    exception_restore(jni, of_program, object == NULL, THROWN_BY_ALLOCATION);
    if (object == NULL)
        return;
    hash_state_enter();
    struct hash_words words = own_now(jni);
    bool done =
        (*tracer.jvmti)->GetObjectHashCode(tracer.jvmti, object, &drawn) == JVMTI_ERROR_NONE;
    hash_state_leave();
    (*jni)->DeleteLocalRef(jni, object);
    if (!done || !hash_words_draw(&words, (uint32_t) drawn))
        atomic_store(&distance, 0);
}

/* Draws four hashes and compares the memory before with that after. The JVM's generator is
 * Marsaglia's xorshift with four words of 32 bits: each draw shifts them by one, and the newest
 * word, without its highest bit, is the hash. All four words after the draws must be those that the
 * algorithm makes of the words before, and agree with the hashes: 128 bits, so a chance match is
 * out of question, and more than one place is refused. The words of before are put back: the
 * program then draws the hashes that it would have drawn. */
void hash_state_find(JNIEnv *jni)
{
    static struct window before, after;
    uint32_t hashes[HASH_WORDS];
    size_t found = 0;
    if (!internal_is_allowed(INTERNAL_HASH) || atomic_load(&distance) != 0 ||
        (uintptr_t) jni % sizeof(uint32_t) != 0)
        return;
    read_window(jni, &before);
    if (!draw(jni, hashes))
        return;
    read_window(jni, &after);
    size_t all = sizeof after.words / sizeof after.words[0];
    size_t count = after.count < before.count ? after.count : before.count;
    if (hash_words_search(before.words + all - count, after.words + all - count, count, hashes,
                          &found) != 1)
        return;
    size_t back = (count - found) * sizeof after.words[0];
    memcpy((char *) jni - back, (const char *) before.words + sizeof before.words - back,
           sizeof(struct hash_words));
    atomic_store(&distance, back);
    hash_state_prove(jni);
}

/* The seeds only have to differ between threads; no seed may make all words zero. */
static void seed(void)
{
    static _Atomic uint32_t threads;
    own.words = (struct hash_words){
        {(atomic_fetch_add(&threads, 1) + 1) * 0x9e3779b1u, 0x2545f491u, 0x6c078965u, 0x1b873593u}};
    own.seeded = true;
}

static void swap(void)
{
    JNIEnv *jni = jvm_jni();
    struct hash_words theirs;
    if (jni == NULL)
        return;
    char *words = (char *) jni - atomic_load_explicit(&distance, memory_order_relaxed);
    memcpy(&theirs, words, sizeof theirs);
    memcpy(words, &own.words, sizeof theirs);
    own.words = theirs;
}

void hash_state_enter(void)
{
    if (atomic_load_explicit(&distance, memory_order_relaxed) == 0 ||
        (own.depth == 0 && !internal_is_allowed(INTERNAL_HASH)) || own.depth++ != 0)
        return;
    if (!own.seeded)
        seed();
    swap();
}

void hash_state_leave(void)
{
    if (own.depth != 0 && --own.depth == 0)
        swap();
}

bool hash_state_is_known(void)
{
    return atomic_load(&distance) != 0 && internal_is_allowed(INTERNAL_HASH);
}

void hash_state_report(void)
{
    internal_settled(
        INTERNAL_HASH,
        hash_state_is_known() ? NULL : "they are not where JDKs have them, or hashCode is another");
}
