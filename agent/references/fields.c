/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a session's fields, by the hash of class, name and descriptor. */
#include "agent/references/fields.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/hash_numbers.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"

#define TEXT_LIMIT 131072u

static struct {
    pthread_mutex_t lock;
    uint64_t session; /* the session that the table belongs to */
    struct hash_numbers numbers;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void begin_session(const struct session *session)
{
    if (table.session == session->number)
        return;
    table.session = session->number;
    hash_numbers_clear(&table.numbers);
}

static uint64_t define(struct session *session, uint64_t class, const char *name,
                       const char *descriptor, uint64_t modifiers)
{
    size_t room = strlen(name) + strlen(descriptor);
    uint64_t *words = room <= TEXT_LIMIT ? calloc(4 + (room + 7) / 8, sizeof *words) : NULL;
    if (words == NULL)
        return 0;
    char *text = (char *) &words[4];
    size_t name_length = utf8_of_modified(name, text);
    size_t descriptor_length = utf8_of_modified(descriptor, text + name_length);
    words[1] = class;
    words[2] = (modifiers & UINT32_MAX) | STEP_LIVE_IS_FIELD;
    words[3] = name_length | (uint64_t) descriptor_length << 32;
    pthread_mutex_lock(&session->global_lock);
    uint64_t number = ++session->references.field_count;
    words[0] = live_word(STEP_LIVE_DEFINE_METHOD, number);
    global_write(session, words, 4 + (name_length + descriptor_length + 7) / 8, 0);
    pthread_mutex_unlock(&session->global_lock);
    free(words);
    return number;
}

uint64_t field_number(struct session *session, uint64_t class, const char *name,
                      const char *descriptor, uint64_t modifiers)
{
    uint64_t hash = text_hash_more(TEXT_HASH_START, (const char *) &class, sizeof class);
    hash = text_hash_more(hash, name, strlen(name) + 1);
    hash = text_hash_key(text_hash_more(hash, descriptor, strlen(descriptor)));
    uint64_t number = 0;
    pthread_mutex_lock(&table.lock);
    begin_session(session);
    struct hash_number *place = hash_numbers_place(&table.numbers, hash);
    if (place != NULL) {
        if (place->hash == 0 && (number = define(session, class, name, descriptor, modifiers)) != 0)
            hash_numbers_put(&table.numbers, place, hash, number);
        number = place->number;
    }
    pthread_mutex_unlock(&table.lock);
    return number;
}

uint64_t field_number_of_id(struct session *session, JNIEnv *jni, jclass class, jfieldID field)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jclass declaring = NULL;
    char *name = NULL, *descriptor = NULL;
    jint modifiers = 0;
    uint64_t number = 0;
    if ((*jvmti)->GetFieldDeclaringClass(jvmti, class, field, &declaring) != JVMTI_ERROR_NONE)
        return 0;
    uint64_t declared_in = class_number(session, declaring);
    if (declared_in != 0 &&
        (*jvmti)->GetFieldName(jvmti, class, field, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetFieldModifiers(jvmti, class, field, &modifiers) == JVMTI_ERROR_NONE)
        number = field_number(session, declared_in, name, descriptor,
                              (uint32_t) modifiers & FIELD_MODIFIERS);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) descriptor);
    (*jni)->DeleteLocalRef(jni, declaring);
    return number;
}
