/* SPDX-License-Identifier: Apache-2.0 */
/* Finds methods that begin and end phases, numbers them, and acts when they are called. */
#include "agent/bytecode/phase_methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/hash_numbers.h"
#include "agent/records/code_places.h"
#include "agent/records/global_stream.h"
#include "agent/records/phases.h"
#include "agent/rewriter/rewrite.h"
#include "capture/log.h"

#define NO_VARIABLE (-1)
#define SHORT_TEXT 768u
#define LONGEST_TEXT 65537 /* UTF-16 units: longer names are cut */

enum phase_action {
    CALL_IS_PHASE, /* from the method's entry to its exit */
    ENTRY_BEGINS,  /* named by the variable */
    ENTRY_ENDS,    /* the innermost; if there is a variable, of that name */
    EXIT_BEGINS,   /* until a method of the same class that ENTRY_FINISHES; if there is a variable,
                      named by DaCapo's Callback.mode as it was at the entry */
    ENTRY_FINISHES,
    ENTRY_HANDS_ON,   /* to the thread that the variable names and that starts */
    CALL_IS_ITERATION /* the same as CALL_IS_PHASE, named by the variable, JMH's IterationParams */
};

/* A method that is known by name. Harnesses' iterations have phases of the program, since a
 * benchmark may have threads of its own. */
struct known_method {
    const char *class_name, *method_name;
    const char *descriptor; /* its beginning; NULL: any */
    enum phase_action action;
    enum phase_scope scope;
    const char *name; /* of the phase */
    int variable;
    enum { OF_API, OF_HARNESS, OF_STARTS } kind; /* only with phase=auto; with phase=threads:... */
};

#define API "steptrace/Phase"
#define DACAPO "org/dacapo/harness/Callback"
#define JMH "org/openjdk/jmh/runner/BenchmarkHandler"
#define THREAD "java/lang/Thread"
#define VIRTUAL_THREAD "java/lang/VirtualThread"
#define STRING "(Ljava/lang/String;)"

/* DaCapo 2006 and 9.12-bach call startWarmup() before a warm-up.  From 9.12-MR1 on they call
 * start() before each iteration, and Callback.mode has its kind.  JMH 1.37 added a parameter at the
 * end. */
static const struct known_method known_methods[] = {
    {API, "begin", STRING, ENTRY_BEGINS, PHASE_OF_THREAD, NULL, 0, OF_API},
    {API, "end", "()", ENTRY_ENDS, PHASE_OF_THREAD, NULL, NO_VARIABLE, OF_API},
    {API, "end", STRING, ENTRY_ENDS, PHASE_OF_THREAD, NULL, 0, OF_API},
    {API, "beginProgram", STRING, ENTRY_BEGINS, PHASE_OF_PROGRAM, NULL, 0, OF_API},
    {API, "endProgram", "()", ENTRY_ENDS, PHASE_OF_PROGRAM, NULL, NO_VARIABLE, OF_API},
    {API, "endProgram", STRING, ENTRY_ENDS, PHASE_OF_PROGRAM, NULL, 0, OF_API},
    {DACAPO, "startWarmup", STRING, EXIT_BEGINS, PHASE_OF_PROGRAM, "warmup", NO_VARIABLE,
     OF_HARNESS},
    {DACAPO, "start", STRING, EXIT_BEGINS, PHASE_OF_PROGRAM, NULL, 0, OF_HARNESS},
    {DACAPO, "stopWarmup", NULL, ENTRY_FINISHES, PHASE_OF_PROGRAM, NULL, NO_VARIABLE, OF_HARNESS},
    {DACAPO, "stop", NULL, ENTRY_FINISHES, PHASE_OF_PROGRAM, NULL, NO_VARIABLE, OF_HARNESS},
    {JMH, "runIteration",
     "(Lorg/openjdk/jmh/infra/BenchmarkParams;Lorg/openjdk/jmh/infra/IterationParams;",
     CALL_IS_ITERATION, PHASE_OF_PROGRAM, NULL, 2, OF_HARNESS},
    {THREAD, "start", NULL, ENTRY_HANDS_ON, PHASE_OF_THREADS, NULL, 0, OF_STARTS},
    {VIRTUAL_THREAD, "start", NULL, ENTRY_HANDS_ON, PHASE_OF_THREADS, NULL, 0, OF_STARTS},
};
#define KNOWN_COUNT (sizeof known_methods / sizeof known_methods[0])

/* ---- numbers ---- */

/* A method with probes. Methods of one name in classes of one name share it. */
struct phase_method {
    enum phase_action action;
    enum phase_scope scope;
    uint64_t hash;
    uint32_t key; /* of its phases */
    char *name;   /* of the phase, or NULL */
    /* number of that name in a session's dictionary, below the session's number */
    _Atomic uint64_t name_of_session;
};

#define CHUNK_METHODS 1024u
#define CHUNKS 64u
#define NAME_NUMBER_BITS 40u
#define DACAPO_KEY (CHUNK_METHODS * CHUNKS)

/* Entries stay where they are and are never freed, since code with their number may run at any
 * time. Number 0 is none. */
static struct {
    pthread_mutex_t lock;
    struct phase_method *_Atomic chunks[CHUNKS];
    uint32_t count;
    struct hash_numbers numbers;
} methods = {.lock = PTHREAD_MUTEX_INITIALIZER, .count = 1};

static struct phase_method *method_at(uint32_t number)
{
    struct phase_method *chunk = atomic_load(&methods.chunks[number / CHUNK_METHODS]);
    return &chunk[number % CHUNK_METHODS];
}

/* Returns the phase's name "com.acme.Shop.checkout", allocated. */
static char *name_of_call(const char *class_name, const char *method_name)
{
    size_t length = strlen(class_name), room = length + strlen(method_name) + 2;
    char *name = malloc(room);
    if (name == NULL)
        return NULL;
    snprintf(name, room, "%s.%s", class_name, method_name);
    for (char *at = name; at < name + length; at++)
        if (*at == '/')
            *at = '.';
    return name;
}

/* The caller holds the lock. Returns 0 if out of memory. */
static uint32_t add_method(const struct phase_method *wanted)
{
    uint32_t number = methods.count, chunk = number / CHUNK_METHODS;
    if (chunk == CHUNKS)
        return 0;
    if (atomic_load(&methods.chunks[chunk]) == NULL)
        atomic_store(&methods.chunks[chunk], calloc(CHUNK_METHODS, sizeof(struct phase_method)));
    if (atomic_load(&methods.chunks[chunk]) == NULL)
        return 0;
    struct phase_method *added = method_at(number);
    added->action = wanted->action;
    added->scope = wanted->scope;
    added->hash = wanted->hash;
    added->name = wanted->name;
    added->key =
        wanted->action == EXIT_BEGINS || wanted->action == ENTRY_FINISHES ? DACAPO_KEY : number;
    methods.count++;
    return number;
}

/* Returns the method's number, adding it if it has none. Takes the name. */
static uint32_t phase_methods_number_of(const struct phase_method *wanted)
{
    pthread_mutex_lock(&methods.lock);
    struct hash_number *place = hash_numbers_place(&methods.numbers, wanted->hash);
    bool is_new = place == NULL || place->hash == 0;
    uint32_t number = is_new ? 0 : (uint32_t) place->number;
    if (place != NULL && is_new && (number = add_method(wanted)) != 0)
        hash_numbers_put(&methods.numbers, place, wanted->hash, number);
    pthread_mutex_unlock(&methods.lock);
    if (!is_new || number == 0)
        free(wanted->name);
    return number;
}

/* ---- rewriting ---- */

/* Context of a rewriting. */
struct phase_plan {
    const struct options *options;
    bool full; /* a method got no number */
};

static bool phase_methods_is_known(const struct known_method *known, const struct options *options,
                                   const char *class_name)
{
    return (known->kind != OF_HARNESS || options->phases_known) &&
           (known->kind != OF_STARTS || options->threads_phase_at.count != 0) &&
           strcmp(known->class_name, class_name) == 0;
}

bool phase_methods_in(const struct options *options, const char *class_name)
{
    if (!options->phases)
        return false;
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (phase_methods_is_known(&known_methods[i], options, class_name))
            return true;
    return options_names_method(options, &options->phase_at, class_name, NULL) ||
           options_names_method(options, &options->threads_phase_at, class_name, NULL) ||
           options_names_method(options, &options->program_phase_at, class_name, NULL);
}

/* A variable must be an object, so the parameters must be those expected.  Methods of harnesses are
 * called with this, those of the API without. */
static bool has_shape(const struct known_method *known, const char *descriptor, bool is_static)
{
    if (known->descriptor == NULL)
        return true;
    size_t length = strlen(known->descriptor);
    return strncmp(descriptor, known->descriptor, length) == 0 &&
           (known->variable == NO_VARIABLE || is_static == (known->kind == OF_API));
}

static const struct known_method *find_known(const struct options *options, const char *class_name,
                                             const char *method_name, const char *descriptor,
                                             bool is_static)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (phase_methods_is_known(&known_methods[i], options, class_name) &&
            strcmp(known_methods[i].method_name, method_name) == 0 &&
            has_shape(&known_methods[i], descriptor, is_static))
            return &known_methods[i];
    return NULL;
}

static uint64_t phase_methods_hash_of(const char *class_name, const char *method_name,
                                      uint64_t variant)
{
    return text_hash_names(variant, (const char *const[]){class_name, method_name}, 2);
}

static uint32_t number_known(const struct known_method *known)
{
    struct phase_method wanted = {.action = known->action,
                                  .scope = known->scope,
                                  .name = known->name != NULL ? strdup(known->name) : NULL,
                                  .hash =
                                      phase_methods_hash_of(known->class_name, known->method_name,
                                                            3u + (uint64_t) (known->variable + 1))};
    return phase_methods_number_of(&wanted) << PHASE_VARIABLE_BITS |
           (uint32_t) (known->variable + 1);
}

static uint32_t number_method(void *context, const char *class_name, const char *method_name,
                              const char *descriptor, uint16_t access_flags)
{
    struct phase_plan *plan = context;
    const struct options *options = plan->options;
    enum { IS_STATIC = 0x0008 };
    const struct known_method *known =
        find_known(options, class_name, method_name, descriptor, (access_flags & IS_STATIC) != 0);
    if (known != NULL)
        return number_known(known);
    enum phase_scope scope = PHASE_OF_THREAD;
    if (options_names_method(options, &options->program_phase_at, class_name, method_name))
        scope = PHASE_OF_PROGRAM;
    else if (options_names_method(options, &options->threads_phase_at, class_name, method_name))
        scope = PHASE_OF_THREADS;
    else if (!options_names_method(options, &options->phase_at, class_name, method_name))
        return 0;
    struct phase_method wanted = {.action = CALL_IS_PHASE,
                                  .scope = scope,
                                  .name = name_of_call(class_name, method_name),
                                  .hash = phase_methods_hash_of(class_name, method_name, scope)};
    uint32_t number = phase_methods_number_of(&wanted);
    plan->full = plan->full || number == 0;
    return number << PHASE_VARIABLE_BITS;
}

/* The only method probes are those of phases. */
static void report_left_alone(const char *class_name, const char *method_name,
                              const char *descriptor, const char *reason)
{
    log_message("phase: %s%s%s%s cannot be instrumented: %s", class_name,
                method_name[0] != '\0' ? "." : "", method_name, descriptor, reason);
}

/* The method is rewritten twice. */
static void places_unknown(void *context, const char *class_name, const char *method_name,
                           const char *descriptor, uint32_t code_bytes, const uint8_t *places,
                           size_t size)
{
    (void) context, (void) places, (void) size;
    code_places_add(class_name, method_name, descriptor, code_bytes, NULL, 0);
}

static void left_alone(void *context, const char *class_name, const char *method_name,
                       const char *descriptor, const char *reason, enum rewrite_loss loss)
{
    (void) context;
    if (loss == LOSS_METHOD_EVENTS)
        report_left_alone(class_name, method_name, descriptor, reason);
}

/* A rewriting of its own, after that of the engine: a method may have both kinds of probes, with
 * different numbers and in different places (a phase of a constructor begins after super()). The
 * places of instructions would then have to be followed through both rewritings; they are declared
 * unknown instead, and such a method's frames have no bytecode index. */
uint8_t *phase_methods_rewrite(const struct options *options, const char *class_name,
                               const uint8_t *bytes, size_t length, size_t *new_length)
{
    struct phase_plan plan = {.options = options};
    struct rewrite_request request = {.class_file = bytes,
                                      .size_bytes = length,
                                      .method = true,
                                      .nameless = true,
                                      .phases = true,
                                      .method_number = number_method,
                                      .left_alone = left_alone,
                                      .places = places_unknown,
                                      .context = &plan};
    struct rewrite_error error;
    uint8_t *out = NULL;
    if (class_rewrite(&request, &out, new_length, &error) > REWRITE_UNCHANGED)
        report_left_alone(class_name, "", "", error.message);
    if (plan.full)
        report_left_alone(class_name, "", "", "there are too many methods");
    return out;
}

/* ---- calls ---- */

static uint64_t name_of_text(struct session *session, JNIEnv *jni, jstring text)
{
    char brief[SHORT_TEXT + 1], *bytes = brief;
    if (text == NULL)
        return phase_name(session, "null");
    jsize units = (*jni)->GetStringLength(jni, text);
    if (units > LONGEST_TEXT)
        units = LONGEST_TEXT;
    if ((size_t) units * 3 > SHORT_TEXT)
        bytes = malloc((size_t) units * 3 + 1);
    if (bytes == NULL)
        return 0;
    memset(bytes, 0, (size_t) units * 3 + 1);
    (*jni)->GetStringUTFRegion(jni, text, 0, units, bytes);
    uint64_t number = phase_name(session, bytes);
    if (bytes != brief)
        free(bytes);
    return number;
}

#define NAME_NUMBER_MASK ((UINT64_C(1) << NAME_NUMBER_BITS) - 1)

static void set_name(struct session *session, struct phase_method *method, uint64_t number)
{
    atomic_store_explicit(&method->name_of_session,
                          session->number << NAME_NUMBER_BITS | (number & NAME_NUMBER_MASK),
                          memory_order_relaxed);
}

/* The name's number and the session are in one word, so a thread that reads it without a lock never
 * combines the number of one session with the next. Two threads may both find it missing; the
 * dictionary gives both the same number. */
static uint64_t name_of_method(struct session *session, struct phase_method *method)
{
    uint64_t known = atomic_load_explicit(&method->name_of_session, memory_order_relaxed);
    if (known >> NAME_NUMBER_BITS == session->number)
        return known & NAME_NUMBER_MASK;
    uint64_t number = method->name != NULL ? phase_name(session, method->name) : 0;
    set_name(session, method, number);
    return number;
}

/* Returns a field of the object, or NULL. No Java code runs. */
static jobject field_of(JNIEnv *jni, jobject object, const char *name, const char *descriptor)
{
    jclass class = object != NULL ? (*jni)->GetObjectClass(jni, object) : NULL;
    jfieldID field = class != NULL ? (*jni)->GetFieldID(jni, class, name, descriptor) : NULL;
    jobject value = field != NULL ? (*jni)->GetObjectField(jni, object, field) : NULL;
    exception_restore(jni, NULL, field == NULL, THROWN_BY_LOOKUP); /* there is none */
    (*jni)->DeleteLocalRef(jni, class);
    return value;
}

/* Names an iteration by the constant that a field of the object has: WARMUP, or another. */
static uint64_t name_of_iteration(struct session *session, JNIEnv *jni, jobject object,
                                  const char *field, const char *descriptor)
{
    char text[24] = "";
    jthrowable of_program = exception_set_aside(jni);
    jobject kind = field_of(jni, object, field, descriptor);
    jstring name = field_of(jni, kind, "name", "Ljava/lang/String;");
    if (name != NULL && (*jni)->GetStringLength(jni, name) < 8)
        (*jni)->GetStringUTFRegion(jni, name, 0, (*jni)->GetStringLength(jni, name), text);
    (*jni)->DeleteLocalRef(jni, name);
    (*jni)->DeleteLocalRef(jni, kind);
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
    return phase_name(session, strcmp(text, "WARMUP") == 0 ? "warmup" : "measure");
}

static void act_on_entry(struct session *session, struct os_thread *os, JNIEnv *jni,
                         uint32_t number, jobject object)
{
    struct phase_method *method = method_at(number >> PHASE_VARIABLE_BITS);
    bool is_named = (number & PHASE_VARIABLE_MASK) != 0;
    switch (method->action) {
    case CALL_IS_PHASE:
        phase_begin(session, os, method->scope, method->key, name_of_method(session, method));
        break;
    case CALL_IS_ITERATION:
        phase_begin(session, os, method->scope, method->key,
                    name_of_iteration(session, jni, object, "type",
                                      "Lorg/openjdk/jmh/runner/IterationType;"));
        break;
    case ENTRY_BEGINS:
        phase_begin(session, os, method->scope, PHASE_BY_NAME, name_of_text(session, jni, object));
        break;
    case ENTRY_ENDS:
        phase_end(session, os, method->scope, PHASE_BY_NAME,
                  is_named ? name_of_text(session, jni, object) : 0);
        break;
    case ENTRY_FINISHES:
        phase_end(session, os, method->scope, method->key, 0);
        break;
    case ENTRY_HANDS_ON:
        phases_hand_on(session, os, jni, object);
        break;
    case EXIT_BEGINS:
        if (is_named)
            set_name(session, method,
                     name_of_iteration(session, jni, object, "mode", "L" DACAPO "$Mode;"));
        break;
    }
}

void JNICALL on_phase_entry_of(JNIEnv *jni, jclass class, jint number, jobject object)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    (void) class;
    if (session == NULL)
        return;
    act_on_entry(session, os, jni, (uint32_t) number, object);
    probe_leave(os);
}

void JNICALL on_phase_entry(JNIEnv *jni, jclass class, jint number)
{
    on_phase_entry_of(jni, class, number, NULL);
}

void JNICALL on_phase_exit(JNIEnv *jni, jclass class, jint number)
{
    struct phase_method *method = method_at((uint32_t) number >> PHASE_VARIABLE_BITS);
    struct os_thread *os;
    (void) jni, (void) class;
    if (method->action != CALL_IS_PHASE && method->action != CALL_IS_ITERATION &&
        method->action != EXIT_BEGINS)
        return;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    phase_end(session, os, method->scope, method->key, 0);
    if (method->action == EXIT_BEGINS)
        phase_begin(session, os, method->scope, method->key, name_of_method(session, method));
    probe_leave(os);
}

/* An exception has left the methods that this one called, and perhaps their phases without a probe.
 * Phases of the program are not ended by that: another thread may have begun them. */
void JNICALL on_phase_caught(JNIEnv *jni, jclass class, jint number)
{
    struct phase_method *method = method_at((uint32_t) number >> PHASE_VARIABLE_BITS);
    struct os_thread *os;
    (void) jni, (void) class;
    if (method->action != CALL_IS_PHASE || method->scope == PHASE_OF_PROGRAM)
        return;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    phase_caught(session, os, method->key);
    probe_leave(os);
}
