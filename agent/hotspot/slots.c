/* SPDX-License-Identifier: Apache-2.0 */
/* Proves what references point to: two references to one object have equal words, one to another
 * object has a different one. The words are read through the kernel, which does not fault. */
#include "agent/hotspot/slots.h"

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/peek.h"

#define ATTEMPTS 8 /* objects may move */

_Atomic bool slots_readable;

static bool read_slot(jobject reference, uintptr_t *word)
{
    return peek((uintptr_t) reference & ~(uintptr_t) 7, word, sizeof *word);
}

static bool are_as_expected(jobject one, jobject again, jobject other)
{
    uintptr_t words[3] = {0};
    return read_slot(one, &words[0]) && read_slot(again, &words[1]) &&
           read_slot(other, &words[2]) && words[0] != 0 && words[0] == words[1] &&
           words[0] != words[2] && words[2] != 0;
}

/* Makes two arrays, and compares the words of three references to them. The arrays may move between
 * two reads, which makes equal references differ; hence the attempts. Different references hardly
 * become equal by that, and would have to for a wrong success. */
static bool is_so(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    jobject one = (*jni)->NewByteArray(jni, 0), other = (*jni)->NewByteArray(jni, 0);
    jobject again = one != NULL ? (*jni)->NewLocalRef(jni, one) : NULL;
    bool so = false;
    for (int i = 0; i < ATTEMPTS && !so && again != NULL && other != NULL; i++)
        so = are_as_expected(one, again, other);
    exception_restore(jni, of_program, again == NULL || other == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, again);
    (*jni)->DeleteLocalRef(jni, other);
    (*jni)->DeleteLocalRef(jni, one);
    return so;
}

void slots_prove(JNIEnv *jni)
{
    bool so = internal_is_allowed(INTERNAL_SLOTS) && is_so(jni);
    atomic_store(&slots_readable, so);
    internal_settled(INTERNAL_SLOTS,
                     so ? NULL : "references do not lead to them, or they cannot be read");
}
