/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of names: SipHash-2-4 of the name under a key that the process draws and that leaves it
 * nowhere. Without the key, a number does not tell which of some likely names it stands for. */
#include "agent/records/redaction.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "agent/base/jvm_classes.h"
#include "capture/clock.h"
#include "format/core/grow.h"

#define PACKAGE "redacted/"
#define NUMBER_BITS 48u

static struct {
    pthread_once_t once;
    uint64_t low, high;
} key = {.once = PTHREAD_ONCE_INIT};

/* The kernel gives each process it starts 16 random bytes, so no system call is needed. Where it
 * does not, addresses and time are hard to guess at least. */
static void draw_key(void)
{
    uint64_t drawn[2] = {clock_monotonic_ns() ^ (uint64_t) (uintptr_t) &key, clock_raw()};
    const void *random = (const void *) (uintptr_t) getauxval(AT_RANDOM);
    if (random != NULL)
        memcpy(drawn, random, sizeof drawn);
    key.low = drawn[0];
    key.high = drawn[1];
}

static uint64_t rotated(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], unsigned count)
{
    while (count-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static void sip_take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

uint64_t redaction_hash(uint64_t low, uint64_t high, const char *bytes, size_t length)
{
    uint64_t v[4] = {low ^ UINT64_C(0x736f6d6570736575), high ^ UINT64_C(0x646f72616e646f6d),
                     low ^ UINT64_C(0x6c7967656e657261), high ^ UINT64_C(0x7465646279746573)};
    uint64_t last = (uint64_t) length << 56;
    size_t whole = length / 8 * 8;
    for (size_t at = 0; at < whole; at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8; i++)
            word |= (uint64_t) (uint8_t) bytes[at + i] << 8 * i;
        sip_take(v, word);
    }
    for (size_t i = 0; whole + i < length; i++)
        last |= (uint64_t) (uint8_t) bytes[whole + i] << 8 * i;
    sip_take(v, last);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void put_number(char letter, const char *name, size_t length, char out[REDACTION_BYTES])
{
    pthread_once(&key.once, draw_key);
    uint64_t number = redaction_hash(key.low, key.high, name, length) >> (64 - NUMBER_BITS);
    snprintf(out, REDACTION_BYTES, "%c%0*" PRIx64, letter, (int) NUMBER_BITS / 4, number);
}

void redaction_name(char letter, const char *name, char out[REDACTION_BYTES])
{
    put_number(letter, name, strlen(name), out);
}

/* ---- classes ---- */

static bool loader_has_package(JNIEnv *jni, jobject loader, const char *package)
{
    jobject module = NULL;
    if ((*tracer.jvmti)->GetNamedModule(tracer.jvmti, loader, package, &module) !=
            JVMTI_ERROR_NONE ||
        module == NULL)
        return false;
    (*jni)->DeleteLocalRef(jni, module);
    return true;
}

/* Classes of agents on the boot class path are in no named module. */
static bool spares(const char *name, size_t length)
{
    char package[512];
    const char *slash = memrchr(name, '/', length);
    JNIEnv *jni = jvm_jni();
    if (slash == NULL || (size_t) (slash - name) >= sizeof package || jni == NULL)
        return false;
    snprintf(package, sizeof package, "%.*s", (int) (slash - name), name);
    return loader_has_package(jni, NULL, package) ||
           loader_has_package(jni, loader_of_platform(jni), package);
}

bool redaction_spares_class(const char *class_name)
{
    const char *element = class_name + strspn(class_name, "[");
    size_t length = strlen(element);
    if (element == class_name)
        return spares(class_name, length);
    return element[0] != 'L' || spares(element + 1, length - 1);
}

/* Appends what stands for a class of that name; `out` has room for it. The JVM lets only the JDK
 * define classes in packages of java/; in all others, the program may have one. */
static char *put_class(char *out, const char *name, size_t length)
{
    static const char of_jdk[] = "java/";
    char number[REDACTION_BYTES];
    if (length >= sizeof of_jdk && strncmp(name, of_jdk, sizeof of_jdk - 1) == 0) {
        memcpy(out, name, length);
        return out + length;
    }
    put_number('c', name, length, number);
    return out + sprintf(out, PACKAGE "%s", number);
}

char *redaction_descriptor(const char *descriptor)
{
    size_t count = 1;
    for (const char *at = descriptor; *at != '\0'; at++)
        count += *at == 'L';
    char *text = malloc(strlen(descriptor) + count * (sizeof PACKAGE + REDACTION_BYTES)),
         *out = text;
    for (const char *at = descriptor; text != NULL && *at != '\0';) {
        *out++ = *at;
        if (*at++ != 'L')
            continue;
        size_t length = strcspn(at, ";");
        out = put_class(out, at, length);
        at += length;
    }
    if (text != NULL)
        *out = '\0';
    return text;
}

char *redaction_class(const char *class_name)
{
    if (class_name[0] == '[')
        return redaction_descriptor(class_name);
    size_t length = strlen(class_name);
    char *text = malloc(length + sizeof PACKAGE + REDACTION_BYTES);
    if (text != NULL)
        *put_class(text, class_name, length) = '\0';
    return text;
}

/* ---- numbers of classes in the trace ---- */

static struct {
    pthread_mutex_t lock;
    uint64_t session;
    uint8_t *spared; /* a byte for each */
    size_t capacity, count;
} classes = {.lock = PTHREAD_MUTEX_INITIALIZER};

void redaction_note_class(const struct session *session, uint64_t class, bool spared)
{
    pthread_mutex_lock(&classes.lock);
    if (classes.session != session->number) {
        classes.session = session->number;
        classes.count = 0;
    }
    if (STEP_MAKE_ROOM(classes.spared, classes.capacity, class + 1)) {
        while (classes.count <= class)
            classes.spared[classes.count++] = 0;
        classes.spared[class] = spared;
    }
    pthread_mutex_unlock(&classes.lock);
}

/* What is not known is not spared. */
bool redaction_spares(const struct session *session, uint64_t class)
{
    pthread_mutex_lock(&classes.lock);
    bool spared =
        classes.session == session->number && class < classes.count && classes.spared[class] != 0;
    pthread_mutex_unlock(&classes.lock);
    return spared;
}
