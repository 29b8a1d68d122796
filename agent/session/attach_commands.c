/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the commands of a later attach. */
#include "agent/session/attach_commands.h"

#include "agent/base/internals.h"
#include "agent/base/patience.h"
#include "agent/hotspot/archive_dump.h"
#include "agent/hotspot/hash_state.h"
#include "agent/references/heap_graph.h"
#include "agent/session/rotation.h"
#include "agent/session/session.h"
#include "agent/session/triggers.h"
#include "agent/session/vm_life.h"
#include "capture/log.h"

static bool is_running(void)
{
    return atomic_load(&tracer.session) != NULL;
}

jint attach_start(struct options *options)
{
    JNIEnv *jni = NULL;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK)
        return JNI_ERR;
    if (is_running() || trigger_is_armed()) {
        log_message("start: a trace %s", is_running() ? "is being recorded already"
                                                      : "waits for its start= method already");
        return JNI_ERR;
    }
    if (!archive_dump_allows(options))
        return JNI_ERR;
    session_stop(END_STOPPED, COMMAND_PATIENCE_NS); /* a session that ended by itself is not joined
                                                     * yet */
    internals_begin(options->internals, options->internals_proven);
    hash_state_find(jni);
    if (!vm_life_prepare_engine(options))
        return JNI_ERR;
    jint code = JNI_ERR;
    if (!control_take(COMMAND_PATIENCE_NS)) {
        log_message("start: another trace is being started or stopped");
        return JNI_ERR;
    }
    struct session *session = tracer.dying ? NULL : session_prepare(options);
    if (session != NULL &&
        (options->start_at.count != 0 ? trigger_arm(session, jni) : session_begin(session, jni)))
        code = JNI_OK;
    control_give_back();
    return code;
}

static jint begin(struct options *options)
{
    if (options->window_ns != 0)
        return rotation_window(options) ? JNI_OK : JNI_ERR;
    jint code = attach_start(options);
    if (code == JNI_OK)
        rotation_begin(options);
    return code;
}

static jint stop(struct options *options)
{
    (void) options;
    rotation_end();
    if (trigger_disarm())
        return JNI_OK;
    if (!is_running()) {
        log_message("stop: no trace is being recorded");
        return JNI_ERR;
    }
    return session_stop(END_STOPPED, COMMAND_PATIENCE_NS) ? JNI_OK : JNI_ERR;
}

static jint flush(struct options *options)
{
    (void) options;
    if (!is_running() || !session_flush()) {
        log_message("flush: no trace is being recorded");
        return JNI_ERR;
    }
    return JNI_OK;
}

static jint snapshot(struct options *options)
{
    JNIEnv *jni = NULL;
    (void) options;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) == JNI_OK &&
        heap_graph_take(jni, STEP_LIVE_BY_COMMAND))
        return JNI_OK;
    log_message("snapshot: no trace of objects, with times, is being recorded");
    return JNI_ERR;
}

static jint status(struct options *options)
{
    (void) options;
    if (trigger_is_armed())
        log_message("status: the trace waits for its start= method");
    session_log_status();
    return JNI_OK;
}

jint attach_command(struct options *options)
{
    static jint (*const commands[])(struct options *) = {
        [COMMAND_START] = begin,   [COMMAND_STOP] = stop,         [COMMAND_FLUSH] = flush,
        [COMMAND_STATUS] = status, [COMMAND_SNAPSHOT] = snapshot,
    };
    return commands[options->command](options);
}
