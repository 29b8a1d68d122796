/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites the classes that the JVM loads or retransforms while the hook is on. */
#include "agent/bytecode/class_hook.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/hash_numbers.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/bytecode/not_probed.h"
#include "agent/bytecode/phase_methods.h"
#include "agent/hotspot/archived_classes.h"
#include "agent/records/classes.h"
#include "agent/records/code_places.h"
#include "agent/records/global_stream.h"
#include "agent/records/method_numbers.h"
#include "agent/records/threads.h"
#include "agent/references/fields.h"
#include "agent/rewriter/rewrite.h"
#include "agent/stacks/method_changes.h"
#include "capture/log.h"

#define CHANGED_BITS 16u
#define USERS_POLL_NS 100000L

struct class_hook class_hook;

static struct {
    _Atomic bool on;
    _Atomic unsigned users; /* threads that rewrite a class, and use the session */
    _Atomic uint64_t left_alone;
    /* a set of hashes of the names of changed classes, to restore them */
    _Atomic uint8_t changed[1u << CHANGED_BITS];
} hook;

void class_hook_on(void)
{
    atomic_store(&hook.on, true);
}

bool class_hook_is_on(void)
{
    return atomic_load(&hook.on);
}

/* Returns false if the engine is off; then its session may be gone. First the thread counts itself,
 * then it looks; class_hook_off() first switches off, then looks at the count. Both sides are
 * sequentially consistent, so at least one sees the other: either this thread leaves, or
 * class_hook_off() waits for it. The mark of a probe would not do here: the end of a session waits
 * for marks, and to rewrite a class takes much longer than a probe may. */
static bool use(void)
{
    atomic_fetch_add(&hook.users, 1);
    if (atomic_load(&hook.on))
        return true;
    atomic_fetch_sub(&hook.users, 1);
    return false;
}

static void end_use(void)
{
    atomic_fetch_sub(&hook.users, 1);
}

/* The wait is bounded, as a debugger may have suspended a thread in the middle of a class. */
static bool users_leave(uint64_t limit_ns)
{
    uint64_t from = clock_monotonic_ns();
    while (atomic_load(&hook.users) != 0 && clock_monotonic_ns() - from < limit_ns)
        nanosleep(&(struct timespec){0, USERS_POLL_NS}, NULL);
    return atomic_load(&hook.users) == 0;
}

/* A session with a thread that does not leave is abandoned, that is, never freed. */
bool class_hook_off(void)
{
    atomic_store(&hook.on, false);
    bool have_left = users_leave(tracer.dying ? SECOND_NS : PATIENCE_NS);
    if (!have_left && class_hook.session != NULL)
        atomic_store(&class_hook.session->abandoned, true);
    return have_left;
}

bool class_hook_take_options(const struct options *options)
{
    atomic_store(&class_hook.options, options);
    return users_leave(PATIENCE_NS);
}

static size_t class_hook_hash_name(const char *name)
{
    return (size_t) (text_hash(name) >> (64 - CHANGED_BITS));
}

/* ---- classes without probes ---- */

/* The trace lists all of them, stderr only the first. */
static void report_left_alone(const char *class_name, const char *method_name,
                              const char *descriptor, const char *reason, uint64_t missing)
{
    if (engine_proof_runs())
        engine_proof_fail(class_name, method_name, reason);
    else if (!not_probed_record(class_name, method_name, descriptor, reason, missing))
        log_message("start: %s.%s%s cannot be instrumented: %s", class_name, method_name,
                    descriptor, reason);
    else if (atomic_fetch_add(&hook.left_alone, 1) == 0)
        log_message("%s%s%s%s cannot be instrumented: %s (`steptrace info` lists all)", class_name,
                    method_name[0] != '\0' ? "." : "", method_name, descriptor, reason);
}

/* Probes for the methods of a class. */
struct class_plan {
    bool traced;  /* all are traced */
    bool watched; /* some are methods of start= or stop= */
    bool phased;  /* some may begin or end phases */
    bool named;   /* its loader has no other class of this name */
    uint64_t loader;
};

static unsigned triggers_of(const char *class_name, const char *method_name)
{
    const struct options *options = class_hook.options;
    unsigned triggers = 0;
    if (options_names_method(options, &options->stop_at, class_name, method_name))
        triggers |= TRIGGER_STOP;
    if (!class_hook.armed)
        return triggers;
    return options_names_method(options, &options->start_at, class_name, method_name)
               ? triggers | TRIGGER_START
               : 0;
}

static bool takes_loader(JNIEnv *jni, jobject loader)
{
    return class_hook.method && !class_hook.armed &&
           (class_hook.options->include.count != 0 || class_is_of_application(jni, loader));
}

static struct class_plan plan_class(JNIEnv *jni, jobject loader, const char *name)
{
    return (struct class_plan){
        .traced = options_trace_class(class_hook.options, name) && takes_loader(jni, loader),
        .watched = triggers_of(name, NULL) != 0,
        .phased = !class_hook.armed && phase_methods_in(class_hook.options, name)};
}

static uint32_t new_number(const struct class_plan *plan, const char *class_name,
                           const char *method_name, const char *descriptor)
{
    uint32_t number = plan->named
                          ? method_number_of(plan->loader, class_name, method_name, descriptor)
                          : method_new_number();
    if (number != 0)
        method_name_number(number, class_name, method_name, descriptor);
    return number;
}

/* The numbers are constants in the rewritten class. They depend on names only, not on the session,
 * so a class that gets probes again has the same constants: the JVM keeps those of every version,
 * and a pool that grew with each trace would be full after some. */
static uint32_t number_method(void *context, const char *class_name, const char *method_name,
                              const char *descriptor, uint16_t access_flags)
{
    const struct class_plan *plan = context;
    unsigned triggers = plan->watched ? triggers_of(class_name, method_name) : 0;
    (void) access_flags;
    if (triggers == 0 && !(plan->traced && options_trace_class(class_hook.options, class_name)))
        return 0;
    uint32_t number = new_number(plan, class_name, method_name, descriptor);
    if (number == 0)
        report_left_alone(class_name, method_name, descriptor, "there are too many methods",
                          FACT_METHOD_EVENTS);
    else if (triggers != 0)
        watched_method_add(number, triggers);
    return number;
}

static uint32_t number_field(void *context, const char *owner, const char *name,
                             const char *descriptor, bool is_static)
{
    const struct class_plan *plan = context;
    return field_site_number(plan->loader, !plan->named, owner, name, descriptor, is_static);
}

static void method_left_alone(void *context, const char *class_name, const char *method_name,
                              const char *descriptor, const char *reason, enum rewrite_loss loss)
{
    if (loss == LOSS_COMPILATION) {
        huge_method_add(class_name, method_name, descriptor);
        return;
    }
    static const uint64_t missing[] = {[LOSS_METHOD_EVENTS] = FACT_METHOD_EVENTS,
                                       [LOSS_STORES] = FACT_STORES,
                                       [LOSS_ALLOCATIONS] = FACT_ALLOCATIONS};
    (void) context;
    report_left_alone(class_name, method_name, descriptor, reason, missing[loss]);
}

static void note_places(void *context, const char *class_name, const char *method_name,
                        const char *descriptor, uint32_t code_bytes, const uint8_t *places,
                        size_t size)
{
    (void) context;
    code_places_add(class_name, method_name, descriptor, code_bytes, places, size);
}

static struct rewrite_request request_of(const uint8_t *bytes, size_t length,
                                         struct class_plan *plan)
{
    return (struct rewrite_request){.class_file = bytes,
                                    .size_bytes = length,
                                    .alloc = class_hook.alloc,
                                    .method = plan->traced || plan->watched,
                                    .references = class_hook.references,
                                    .nameless = class_hook.nameless,
                                    .leaf = class_hook.leaf,
                                    .apart = true,
                                    .compiled_bytes = plan->watched ? 0 : class_hook.compiled_bytes,
                                    .method_number = number_method,
                                    .field_number = number_field,
                                    .left_alone = method_left_alone,
                                    .places = note_places,
                                    .context = plan};
}

/* Rewrites a class; records in the trace if that is not possible. */
static bool rewrite(const struct rewrite_request *request, const char *name, uint8_t **out,
                    size_t *out_bytes)
{
    struct rewrite_error error;
    enum rewrite_result result = class_rewrite(request, out, out_bytes, &error);
    if (result > REWRITE_UNCHANGED)
        report_left_alone(name, "", "", error.message,
                          (request->alloc ? FACT_ALLOCATIONS : 0u) |
                              (request->method ? FACT_METHOD_EVENTS : 0u));
    return result == REWRITE_CHANGED;
}

/* Returns true if the class got probes. */
static bool rewrite_all(const struct class_plan *plan, const struct rewrite_request *request,
                        const char *name, uint8_t **out, size_t *out_bytes)
{
    size_t length = 0;
    bool changed = rewrite(request, name, out, out_bytes);
    if (!plan->phased)
        return changed;
    uint8_t *phased =
        phase_methods_rewrite(class_hook.options, name, changed ? *out : request->class_file,
                              changed ? *out_bytes : request->size_bytes, &length);
    if (phased == NULL)
        return changed;
    free(*out);
    *out = phased;
    *out_bytes = length;
    return true;
}

static unsigned char *copied(const uint8_t *bytes, size_t length)
{
    unsigned char *copy = NULL;
    if (length > INT32_MAX ||
        (*tracer.jvmti)->Allocate(tracer.jvmti, (jlong) length, &copy) != JVMTI_ERROR_NONE)
        return NULL;
    memcpy(copy, bytes, length);
    return copy;
}

/* Returns the class file with probes, allocated by the JVM, or NULL if the JVM shall keep its own.
 *
 * JDKs after 17 may take a class from the CDS archive with resolved calls to methods as they were
 * before they were rewritten. A copy of the class file, even an unchanged one, makes these JDKs
 * parse and resolve the class. The name of a changed class is noted after the copy was made: the
 * set says which classes must be restored, and a class that could not be copied has not changed. */
static unsigned char *new_class_file(JNIEnv *jni, bool is_new, jobject loader, const char *name,
                                     const uint8_t *bytes, size_t length, size_t *new_length)
{
    struct class_plan plan = plan_class(jni, loader, name != NULL ? name : "");
    struct rewrite_request request = request_of(bytes, length, &plan);
    uint8_t *out = NULL;
    size_t out_bytes = 0;
    if ((plan.traced || plan.watched || class_hook.references) && loader != NULL)
        plan.loader = loader_number(loader);
    plan.named = name != NULL && (plan.loader != 0 || loader == NULL);
    if (!request.alloc && !request.method && !plan.phased && !(class_hook.armed && loader == NULL))
        return NULL;
    bool changed = rewrite_all(&plan, &request, name != NULL ? name : "?", &out, &out_bytes);
    *new_length = changed ? out_bytes : length;
    unsigned char *copy = NULL;
    if (changed || (is_new && tracer.java_major >= JAVA_TAGS_BY_HASH))
        copy = copied(changed ? out : bytes, *new_length);
    if (name != NULL && changed && copy != NULL)
        atomic_store(&hook.changed[class_hook_hash_name(name)], 1);
    free(out);
    return copy;
}

/* The event stays enabled while classes are restored, although the hook is off: for a retransformed
 * class the JVM shows the class file without the changes of this agent, and answering nothing
 * restores it. NaN constants are removed in both directions: the JVM appends the constants of the
 * old version to the new one and compares them by value, so each NaN is one more. */
void JNICALL class_hook_on_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                const char *name, jobject domain, jint length,
                                const unsigned char *bytes, jint *new_length,
                                unsigned char **new_bytes)
{
    size_t new_size = (size_t) length;
    unsigned char *file = NULL;
    (void) jvmti, (void) domain;
    if (jni == NULL || (name != NULL && strcmp(name, PROBE_CLASS) == 0))
        return;
    if (redefined != NULL)
        method_changes_of_others();
    bool on = use();
    if (!on && redefined == NULL)
        return;
    /* also for a class that is being restored */
    if (redefined != NULL && engine_proof_runs())
        engine_proof_seen();
    uint8_t *lean = redefined != NULL ? class_without_spare_nans(bytes, new_size) : NULL;
    if (on)
        file = new_class_file(jni, redefined == NULL, loader, name, lean != NULL ? lean : bytes,
                              (size_t) length, &new_size);
    if (on)
        end_use();
    if (file == NULL && lean != NULL)
        file = copied(lean, new_size = (size_t) length);
    free(lean);
    if (file != NULL) {
        *new_bytes = file;
        *new_length = (jint) new_size;
    }
    if (redefined == NULL && name != NULL)
        archived_class_loads(name, file != NULL);
}

/* Classes of method handles get no allocation probes: see has_probes() of vm_objects.c. */
static uint8_t *rewrite_hidden(JNIEnv *jni, jobject loader, const uint8_t *bytes, size_t length,
                               size_t *new_length)
{
    struct class_plan plan = {.traced = takes_loader(jni, loader),
                              .watched = class_hook.options->stop_at.count != 0};
    struct rewrite_request request = request_of(bytes, length, &plan);
    uint8_t *out = NULL;
    request.alloc &= loader != NULL;
    request.method &= loader != NULL;
    if ((!request.alloc && !request.method && !request.references) ||
        !rewrite(&request, "?", &out, new_length))
        return NULL;
    return out;
}

uint8_t *class_hook_hidden(JNIEnv *jni, jobject loader, const uint8_t *bytes, size_t length,
                           size_t *new_length)
{
    if (!use())
        return NULL;
    uint8_t *changed = rewrite_hidden(jni, loader, bytes, length, new_length);
    end_use();
    return changed;
}

static bool may_be_changed(JNIEnv *jni, jobject loader, const char *name)
{
    (void) jni, (void) loader;
    return atomic_load(&hook.changed[class_hook_hash_name(name)]) != 0;
}

static const struct options *last_options; /* while probes of phases change */

static bool is_phased(JNIEnv *jni, jobject loader, const char *name)
{
    (void) jni, (void) loader;
    return phase_methods_in(last_options, name) || phase_methods_in(class_hook.options, name);
}

static bool is_watched(JNIEnv *jni, jobject loader, const char *name)
{
    (void) jni, (void) loader;
    return triggers_of(name, NULL) != 0;
}

/* Returns true if the class file is needed, whether it will be changed or not. */
static bool class_hook_is_wanted(JNIEnv *jni, jobject loader, const char *name)
{
    struct class_plan plan = plan_class(jni, loader, name);
    return class_hook.alloc || plan.traced || plan.watched || plan.phased;
}

/* Returns the events that a class without probes misses. Hidden classes (with a dot in the name)
 * are handled where they are defined. Since JDK 21 jdk.internal.vm.Continuation is a class that
 * agents cannot change (JDK-8302779); its code creates no objects except for errors. */
static uint64_t missing_of(const char *name, jvmtiError code)
{
    const struct options *options = class_hook.options;
    bool kept = code == JVMTI_ERROR_UNMODIFIABLE_CLASS;
    bool traced = class_hook.method &&
                  (!kept || (options->include.count != 0 && options_trace_class(options, name)));
    if (kept && strchr(name, '.') != NULL)
        return 0;
    return (class_hook.alloc && !kept ? FACT_ALLOCATIONS : 0u) |
           (traced ? FACT_METHOD_EVENTS : 0u) | (class_hook.references ? FACT_STORES : 0u);
}

/* The JVM refuses probes in a class that it has loaded. A class that agents cannot change is
 * recorded in the trace and not logged: no option and no other version of the agent would help. */
static void report_refused(jclass class, jvmtiError code)
{
    if (!atomic_load(&hook.on))
        return;
    char *signature = class_signature(class), *error = NULL;
    (*tracer.jvmti)->GetErrorName(tracer.jvmti, code, &error);
    size_t length = signature != NULL ? strlen(signature) : 0;
    if (length > 2)
        signature[length - 1] = '\0';
    const char *name = length > 2 ? signature + 1 : signature;
    const char *reason = error != NULL ? error : "refused";
    uint64_t missing = name != NULL ? missing_of(name, code) : 0;
    if (missing != 0 && code == JVMTI_ERROR_UNMODIFIABLE_CLASS)
        not_probed_record(name, "", "", reason, missing);
    else if (missing != 0)
        report_left_alone(name, "", "", reason, missing);
    jvm_free(signature);
    jvm_free(error);
}

void class_hook_change_phases(JNIEnv *jni, const struct options *last)
{
    not_probed_again(true);
    last_options = last;
    retransform_loaded(jni, is_phased, report_refused, false);
    last_options = NULL;
    not_probed_again(false);
}

struct retransformed class_hook_retransform(JNIEnv *jni, enum class_choice choice, bool gentle)
{
    static class_test *const tests[] = {[CLASSES_WANTED] = class_hook_is_wanted,
                                        [CLASSES_WATCHED] = is_watched,
                                        [CLASSES_CHANGED] = may_be_changed};
    return retransform_loaded(jni, tests[choice], report_refused, gentle);
}

void class_hook_forget(void)
{
    not_probed_forget();
    memset(hook.changed, 0, sizeof hook.changed);
}

/* For the first class of a module that goes through the hook, the JVM calls Java code that makes
 * the module read others, and draws identity hashes. This causes it now, with the probes' class.
 * Later JDKs use other classes for it, and modules without a hash, where it may cost one. */
void class_hook_meet(JNIEnv *jni)
{
    jclass class = tracer.java_major < JAVA_TAGS_BY_HASH ? class_find(jni, PROBE_CLASS) : NULL;
    if (class != NULL)
        retransform(&class, 1, report_refused);
    (*jni)->DeleteLocalRef(jni, class);
}
