/* SPDX-License-Identifier: Apache-2.0 */
/* Which classes' source files the trace has, and the records that name them. */
#include "agent/records/source_files.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/records/global_stream.h"

#define TEXT_LIMIT 65536u /* a longer map is left out */

static struct session_dictionary sources = {.lock = PTHREAD_MUTEX_INITIALIZER};

void source_files_prepare(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_source_file_name = 1;
    jvm_add_capabilities(&wanted);
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_source_debug_extension = 1;
    jvm_add_capabilities(&wanted);
}

void source_file_define(struct session *session, jclass mirror, uint64_t class)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    char *file = NULL, *map = NULL;
    if (!session_lock(session, &sources.lock))
        return;
    if (dictionary_add_class(&sources, session, class)) {
        if ((*jvmti)->GetSourceFileName(jvmti, mirror, &file) != JVMTI_ERROR_NONE)
            file = NULL;
        if ((*jvmti)->GetSourceDebugExtension(jvmti, mirror, &map) != JVMTI_ERROR_NONE)
            map = NULL;
        if (map != NULL && strlen(map) > TEXT_LIMIT)
            map[0] = '\0';
        if (file != NULL || map != NULL)
            global_define(session, &sources.count, class, STEP_LIVE_IS_SOURCE,
                          file != NULL ? file : "", map != NULL ? map : "");
        jvm_free(file);
        jvm_free(map);
    }
    pthread_mutex_unlock(&sources.lock);
}
