/* SPDX-License-Identifier: Apache-2.0 */
/* Which classes' source files the trace has, and the records that name them. */
#include "agent/records/source_files.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/hash_numbers.h"
#include "agent/base/patience.h"
#include "agent/records/global_stream.h"
#include "format/core/hash.h"

#define DEFINE_WORDS 4u
#define TEXT_LIMIT 131072u /* of both texts: fits into a chunk */

static struct {
    pthread_mutex_t lock;
    uint64_t session; /* the session that the table belongs to */
    uint64_t count;
    struct hash_numbers classes; /* those that were asked for */
} sources = {.lock = PTHREAD_MUTEX_INITIALIZER};

void source_files_prepare(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_source_file_name = 1;
    (*tracer.jvmti)->AddCapabilities(tracer.jvmti, &wanted);
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_source_debug_extension = 1;
    (*tracer.jvmti)->AddCapabilities(tracer.jvmti, &wanted);
}

/* The caller holds the table's lock. Returns true if the class is new. */
static bool class_is_new(struct session *session, uint64_t class)
{
    if (sources.session != session->number) {
        sources.session = session->number;
        sources.count = 0;
        hash_numbers_clear(&sources.classes);
    }
    struct hash_number *place = hash_numbers_place(&sources.classes, step_hash(class));
    if (place == NULL || place->hash != 0)
        return false;
    hash_numbers_put(&sources.classes, place, step_hash(class), 1);
    return true;
}

/* The caller holds the table's lock. A text that is too long is left out whole. */
static void write_source(struct session *session, uint64_t class, const char *file, const char *map)
{
    size_t room = strlen(file) + strlen(map);
    uint64_t *words =
        room <= TEXT_LIMIT ? calloc(DEFINE_WORDS + (room + 7) / 8, sizeof *words) : NULL;
    if (words == NULL)
        return;
    char *text = (char *) &words[DEFINE_WORDS];
    size_t file_length = utf8_of_modified(file, text);
    size_t map_length = utf8_of_modified(map, text + file_length);
    words[0] = live_word(STEP_LIVE_DEFINE_METHOD, ++sources.count);
    words[1] = class;
    words[2] = STEP_LIVE_IS_SOURCE;
    words[3] = file_length | (uint64_t) map_length << 32;
    pthread_mutex_lock(&session->global_lock);
    global_write(session, words, DEFINE_WORDS + (file_length + map_length + 7) / 8, 0);
    pthread_mutex_unlock(&session->global_lock);
    free(words);
}

void source_file_define(struct session *session, jclass mirror, uint64_t class)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    char *file = NULL, *map = NULL;
    if (!session_lock(session, &sources.lock))
        return;
    if (class_is_new(session, class)) {
        if ((*jvmti)->GetSourceFileName(jvmti, mirror, &file) != JVMTI_ERROR_NONE)
            file = NULL;
        if ((*jvmti)->GetSourceDebugExtension(jvmti, mirror, &map) != JVMTI_ERROR_NONE)
            map = NULL;
        if (map != NULL && strlen(map) > TEXT_LIMIT / 2)
            map[0] = '\0';
        if (file != NULL || map != NULL)
            write_source(session, class, file != NULL ? file : "", map != NULL ? map : "");
        (*jvmti)->Deallocate(jvmti, (unsigned char *) file);
        (*jvmti)->Deallocate(jvmti, (unsigned char *) map);
    }
    pthread_mutex_unlock(&sources.lock);
}
