/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a snapshot of the heap's references: the walk and its records. */
#include "agent/references/heap_graph.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/deaths/reaper.h"
#include "agent/hotspot/hash_state.h"
#include "agent/records/classes.h"
#include "agent/records/methods.h"
#include "agent/records/put_record.h"
#include "agent/references/mirror_fields.h"
#include "capture/log.h"
#include "format/core/grow.h"

#define TAG_ROUNDS 2 /* the second one finds what was allocated during the first */

/* A class loader's tag does not contain an id, so the id is stored beside it. */
struct marked_object {
    jlong tag;
    uint64_t id;
};

struct thread_name {
    uint64_t object, thread;
};

struct graph_root {
    uint64_t target, thread_object, depth;
    jmethodID method;
    uint32_t kind;
};

struct walk {
    struct session *session;
    struct os_thread *os;
    JNIEnv *jni;
    struct live_stream *stream;
    struct graph_fields *fields;
    struct mirror_fields *mirror_fields;
    jlong own_tag; /* tag of the thread that takes the snapshot */
    struct marked_object *marked;
    size_t marked_count, marked_capacity;
    struct thread_name *threads;
    size_t thread_count;
    struct graph_root *roots;
    size_t root_count, root_capacity;
    uint64_t thread, number, stamp; /* stamp 0: the walk has not begun */
    enum step_live_snapshot reason;
    uint64_t objects, references, unknown;
};

static pthread_mutex_t snapshot_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before the reaper's */

/* ---- ids of objects ---- */

static bool keep_marked(struct walk *walk, jlong tag, uint64_t id)
{
    if (!STEP_MAKE_ROOM(walk->marked, walk->marked_capacity, walk->marked_count + 1))
        return false;
    walk->marked[walk->marked_count++] = (struct marked_object){tag, id};
    return true;
}

static uint64_t find_marked(const struct walk *walk, jlong tag)
{
    for (size_t i = 0; i < walk->marked_count; i++)
        if (walk->marked[i].tag == tag)
            return walk->marked[i].id;
    return 0;
}

static uint64_t id_of_tag(const struct walk *walk, const jlong *tag)
{
    uint64_t id = tag != NULL && *tag != 0 ? object_of_tag(walk->session, *tag) : 0;
    return id == 0 && tag != NULL && (*tag & TAG_LOADER) != 0 ? find_marked(walk, *tag) : id;
}

/* Gives the object a tag for the walk. An object that died meanwhile accepts no tag. Objects with a
 * tag of this session keep it; mirrors and loaders have theirs for their index, so their ids are in
 * the walk's own list. TAG_PASSING distinguishes such tags from those that stay. */
static void tag_object(void *context, jobject object, uint64_t id)
{
    struct walk *walk = context;
    jlong tag = 0;
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, object, &tag) != JVMTI_ERROR_NONE ||
        object_of_tag(walk->session, tag) != 0)
        return;
    if ((tag & TAG_MARKS) == 0)
        (*tracer.jvmti)
            ->SetTag(tracer.jvmti, object, tag_of_object(walk->session, id) | TAG_PASSING);
    else if (find_marked(walk, tag) == 0)
        keep_marked(walk, tag, id);
}

static jint JNICALL on_tagged(jlong class_tag, jlong size, jlong *tag, jint length, void *data)
{
    struct walk *walk = data;
    (void) class_tag, (void) size, (void) length;
    walk->objects += id_of_tag(walk, tag) != 0;
    if ((*tag & TAG_MARKS) == 0 && (*tag & TAG_PASSING) == TAG_PASSING)
        *tag = 0;
    return JVMTI_VISIT_OBJECTS;
}

/* ---- records ---- */

static void heap_walk_put(struct walk *walk, enum step_live_reference kind, uint64_t first,
                          uint64_t second, uint64_t number, uint64_t more)
{
    walk->unknown += !write_reference(walk->session, walk->stream, walk->thread, walk->stamp, kind,
                                      (const uint64_t[2]){first, second}, number, more);
}

/* At the first callback the program stands still. */
static void heap_walk_begin(struct walk *walk)
{
    if (walk->stamp != 0)
        return;
    walk->stamp = thread_stamp(walk->session, walk->stream);
    stamps_pulse();
    heap_walk_put(walk, STEP_LIVE_SNAPSHOT, walk->number, walk->reason, 0, 0);
}

static void put_edge(struct walk *walk, enum step_live_reference kind, uint64_t holder,
                     uint64_t target, uint64_t number)
{
    walk->references++;
    heap_walk_put(walk, kind, holder, target, number, 0);
}

static void keep_root(struct walk *walk, const struct graph_root *root)
{
    if (STEP_MAKE_ROOM(walk->roots, walk->root_capacity, walk->root_count + 1))
        walk->roots[walk->root_count++] = *root;
    else
        walk->unknown++;
}

static void take_root(struct walk *walk, jvmtiHeapReferenceKind kind,
                      const jvmtiHeapReferenceInfo *info, uint64_t target)
{
    struct graph_root root = {.target = target, .kind = kind};
    jlong tag = 0;
    if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
        tag = info->stack_local.thread_tag;
        root.depth = (uint64_t) (uint32_t) info->stack_local.depth;
        root.method = info->stack_local.method;
    } else if (kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
        tag = info->jni_local.thread_tag;
        root.depth = (uint64_t) (uint32_t) info->jni_local.depth;
        root.method = info->jni_local.method;
    }
    root.thread_object = kind == JVMTI_HEAP_REFERENCE_THREAD ? target : id_of_tag(walk, &tag);
    keep_root(walk, &root);
}

/* Returns true for the agent's own local references. The walk continues from them, but they are not
 * the program's. */
static bool heap_walk_is_own(const struct walk *walk, jvmtiHeapReferenceKind kind,
                             const jvmtiHeapReferenceInfo *info)
{
    return kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL && info->jni_local.depth == 0 &&
           walk->own_tag != 0 && info->jni_local.thread_tag == walk->own_tag;
}

static bool is_root(jvmtiHeapReferenceKind kind)
{
    return kind >= JVMTI_HEAP_REFERENCE_JNI_GLOBAL;
}

static void take_edge(struct walk *walk, jvmtiHeapReferenceKind kind,
                      const jvmtiHeapReferenceInfo *info, uint64_t holder, uint64_t target,
                      uint64_t class)
{
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_FIELD:
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
        put_edge(walk, STEP_LIVE_FIELD_EDGE, holder, target,
                 graph_field(walk->fields, class, info->field.index));
        break;
    case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
        put_edge(walk, STEP_LIVE_ELEMENT_EDGE, holder, target,
                 (uint64_t) (uint32_t) info->array.index);
        break;
    default:
        put_edge(walk, STEP_LIVE_OTHER_EDGE, holder, target, kind);
        break;
    }
}

/* References from objects to their classes are not recorded. */
static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                 jlong class_tag, jlong referrer_class_tag, jlong size, jlong *tag,
                                 jlong *referrer_tag, jint length, void *data)
{
    struct walk *walk = data;
    (void) class_tag, (void) size, (void) length;
    heap_walk_begin(walk);
    if (kind == JVMTI_HEAP_REFERENCE_CLASS || heap_walk_is_own(walk, kind, info))
        return JVMTI_VISIT_OBJECTS;
    bool is_static = kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    uint64_t target = id_of_tag(walk, tag), holder = is_static ? 0 : id_of_tag(walk, referrer_tag);
    if (target == 0 || (!is_root(kind) && !is_static && holder == 0))
        walk->unknown++;
    else if (is_root(kind))
        take_root(walk, kind, info, target);
    else
        take_edge(walk, kind, info, holder, target,
                  class_number_of_tag(walk->session, is_static && referrer_tag != NULL
                                                         ? *referrer_tag
                                                         : referrer_class_tag));
    return JVMTI_VISIT_OBJECTS;
}

/* ---- threads and their frames ---- */

static void name_threads(struct walk *walk)
{
    jint count = 0;
    jthread *threads = NULL;
    if ((*tracer.jvmti)->GetAllThreads(tracer.jvmti, &count, &threads) != JVMTI_ERROR_NONE)
        return;
    walk->threads = calloc((size_t) count + 1, sizeof *walk->threads);
    for (jint i = 0; i < count; i++) {
        const struct java_thread *java = thread_register(walk->session, threads[i], false);
        const jlong tag = jvm_tag(threads[i]);
        if (java != NULL && walk->threads != NULL)
            walk->threads[walk->thread_count++] =
                (struct thread_name){id_of_tag(walk, &tag), java->id};
        (*walk->jni)->DeleteLocalRef(walk->jni, threads[i]);
    }
    jvm_free(threads);
}

static uint64_t thread_of_object(const struct walk *walk, uint64_t object)
{
    for (size_t i = 0; i < walk->thread_count && object != 0; i++)
        if (walk->threads[i].object == object)
            return walk->threads[i].thread;
    return 0;
}

/* A thread without an id gets a tag that only the walk uses. */
static void mark_own_thread(struct walk *walk)
{
    jthread own = jvm_thread();
    if (own == NULL)
        return;
    walk->own_tag = jvm_tag(own);
    if (walk->own_tag == 0 &&
        (*tracer.jvmti)->SetTag(tracer.jvmti, own, TAG_PASSING) == JVMTI_ERROR_NONE)
        walk->own_tag = TAG_PASSING;
    (*walk->jni)->DeleteLocalRef(walk->jni, own);
}

/* ---- fields of Class ---- */

/* Without events=reference the trace lacks the Class objects of classes that are loaded later.
 * Objects that such a Class object holds are recorded as roots. */
static void put_class_field(void *context, jobject holder, uint64_t field, jobject target)
{
    struct walk *walk = context;
    const jlong holder_tag = jvm_tag(holder), target_tag = jvm_tag(target);
    uint64_t from = id_of_tag(walk, &holder_tag), to = id_of_tag(walk, &target_tag);
    if (from != 0 && to != 0)
        put_edge(walk, STEP_LIVE_FIELD_EDGE, from, to, field);
    else if (to != 0)
        keep_root(walk, &(struct graph_root){.target = to, .kind = JVMTI_HEAP_REFERENCE_OTHER});
    else
        walk->unknown++;
}

/* ---- the walk ---- */

/* Called after the walk, since it asks the JVM about methods. */
static void heap_walk_put_roots(struct walk *walk)
{
    for (size_t i = 0; i < walk->root_count; i++) {
        const struct graph_root *root = &walk->roots[i];
        const struct method_entry *method =
            root->method != NULL ? method_lookup(walk->session, root->method) : NULL;
        heap_walk_put(walk, STEP_LIVE_ROOT, thread_of_object(walk, root->thread_object),
                      root->target, root->kind | root->depth << 8, method != NULL ? method->id : 0);
    }
}

/* The program stands still during FollowReferences(), and the drain thread goes on. The callback
 * may fill the ring; live_stand_still() bounds its waits, since a disk that does not answer would
 * otherwise stop the program for good. Roots are written after the walk: their methods are names
 * that only the JVM has, and it must not be asked from the callback. The tags of the walk are
 * removed at the end by one more walk, over tagged objects only. */
static void heap_walk_follow(struct walk *walk)
{
    jvmtiHeapCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.heap_reference_callback = on_reference;
    live_stand_still(walk->stream, true);
    struct own_call call = own_share_calls();
    jvmtiError code =
        (*tracer.jvmti)->FollowReferences(tracer.jvmti, 0, NULL, NULL, &callbacks, walk);
    own_share_called(OWN_STOP_HEAP, &call);
    live_stand_still(walk->stream, false);
    if (code != JVMTI_ERROR_NONE)
        log_message("a snapshot is not complete: JVMTI error %d", (int) code);
    heap_walk_begin(walk);
    walk->unknown += mirror_fields_each(walk->mirror_fields, put_class_field, walk);
    heap_walk_put_roots(walk);
    heap_each_object(JVMTI_HEAP_FILTER_UNTAGGED, NULL, on_tagged, walk); /* untags them */
    heap_walk_put(walk, STEP_LIVE_SNAPSHOT_END, walk->objects, walk->references, walk->root_count,
                  walk->unknown | walk->number << STEP_LIVE_REFERENCE_ID_BITS);
}

/* ---- how long it will take ---- */

/* With the writing of its records, by what JDK 17 and 25 took for 350,000 objects (0.4 s) and for
 * 2,200,000 (2.1 s).  Objects that are not in the trace are only visited. */
enum { TRACED_OBJECT_NS = 1000, UNTRACED_OBJECT_NS = 200, UNTRACED_OBJECT_BYTES = 48 };
/* A reference takes some 110 ns; of the heap's words hardly more than a third are references. */
enum { WORD_NS = 40 };

static void count_object(void *count, jobject object, uint64_t id)
{
    (void) object;
    (void) id;
    ++*(uint64_t *) count;
}

/* Whether a snapshot at the end would take longer than option snapshot=end:TIME allows. */
static bool is_too_slow(struct walk *walk, uint64_t used_bytes)
{
    uint64_t most_ns = walk->session->options.snapshot_most_ns, objects = 0;
    bool has_all = walk->session->options.existing;
    bool is_tagged = walk->session->options.engine == ENGINE_JVMTI;
    if (walk->reason != STEP_LIVE_AT_END || most_ns == 0)
        return false;
    reaper_visit(walk->session, count_object, &objects);
    uint64_t ns = objects * TRACED_OBJECT_NS, words_ns = used_bytes / 4 * WORD_NS;
    if (is_tagged || !has_all)
        ns += used_bytes / UNTRACED_OBJECT_BYTES *
              (is_tagged ? TRACED_OBJECT_NS : UNTRACED_OBJECT_NS);
    ns = ns > words_ns ? ns : words_ns; /* arrays of references are few objects */
    if (ns <= most_ns)
        return false;
    log_message("%s: no snapshot of references at the end: it would take about %.1f s; use "
                "snapshot=end to take it anyway",
                walk->session->options.file, (double) ns / 1e9);
    return true;
}

/* Takes the snapshot. Called in a probe, while the reaper is stopped: no reference may be recycled
 * or deleted while it is being tagged, or the new object would get the dead one's id. Two rounds of
 * tagging find what was allocated during the first; objects that are allocated after the second
 * have no tag and are counted as unknown. The values of Class's fields are held by references
 * before the walk, since JVMTI's walk does not report them. */
static void heap_walk_take(struct walk *walk)
{
    uint64_t begun_ns = clock_monotonic_ns();
    struct java_thread *java = thread_current(walk->session, walk->os, NULL);
    walk->thread = java != NULL ? java->id : 0;
    walk->stream = thread_stream(walk->session, walk->os);
    walk->fields = graph_fields_create(walk->session, walk->jni);
    walk->mirror_fields = mirror_fields_hold(walk->session, walk->jni);
    if (walk->stream == NULL || walk->fields == NULL || walk->mirror_fields == NULL)
        return;
    walk->number = ++walk->session->references.snapshot_count;
    hash_state_enter();
    for (int i = 0; i < TAG_ROUNDS; i++)
        reaper_visit(walk->session, tag_object, walk);
    name_threads(walk);
    mark_own_thread(walk);
    heap_walk_follow(walk);
    hash_state_leave();
    walk->session->references.snapshot_ns = clock_monotonic_ns() - begun_ns;
}

/* Takes the locks of snapshots and passes, in this order; architecture.md has the order of all.
 * Returns false if a pass or another snapshot does not end. */
static bool stop_others(void)
{
    if (!lock_within(&snapshot_lock, tracer.dying ? SECOND_NS : COMMAND_PATIENCE_NS))
        return false;
    if (reaper_stop_passes())
        return true;
    pthread_mutex_unlock(&snapshot_lock);
    return false;
}

bool heap_graph_take(JNIEnv *jni, enum step_live_snapshot reason)
{
    struct walk walk = {.jni = jni, .reason = reason};
    bool taken = false;
    uint64_t used_bytes = reason == STEP_LIVE_AT_END ? heap_used_bytes(jni) : 0;
    if (!stop_others())
        return false;
    walk.session = probe_enter(&walk.os);
    if (walk.session != NULL) {
        taken = (walk.session->options.events & TRACED_ALLOC) != 0 &&
                stamps_are_times(walk.session); /* without times the order of events before it is
                                                 * unknown */
        if (taken && !is_too_slow(&walk, used_bytes))
            heap_walk_take(&walk);
        mirror_fields_release(walk.mirror_fields);
        probe_leave(walk.os);
    }
    reaper_go_on();
    pthread_mutex_unlock(&snapshot_lock);
    graph_fields_destroy(walk.fields);
    free(walk.marked);
    free(walk.threads);
    free(walk.roots);
    return taken;
}

void heap_graph_take_if_due(JNIEnv *jni)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    bool due = false;
    if (session == NULL)
        return;
    uint64_t period = session->options.snapshot_every_ns, now = clock_monotonic_ns();
    if (period != 0) {
        bool starting = tracer_is_starting(session);
        due = !starting && session->references.snapshot_due_ns != 0 &&
              now >= session->references.snapshot_due_ns;
        if (due || starting || session->references.snapshot_due_ns == 0)
            session->references.snapshot_due_ns = now + period;
    }
    probe_leave(os);
    if (due)
        heap_graph_take(jni, STEP_LIVE_EVERY);
}
