/* SPDX-License-Identifier: Apache-2.0 */
/* Which field JVMTI's index of a heap walk means: first come the fields of all interfaces, each
 * once, then those of the superclasses from the top.  A wrong one would be a wrong edge in each
 * snapshot, so every index of a few classes is looked up, with a JVM that has only these. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/records/classes.h"
#include "agent/references/mirror_fields.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* else that of the entry points */

static struct session session;

/* ---- the JVM ---- */

enum { MOST = 4 };

struct class
{
    const char *signature;
    struct class *super, *interfaces[MOST];
    const char *fields[MOST]; /* a name each; all are of type Object */
    jint status;
    jlong tag;
};

#define PREPARED (JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_VERIFIED)

/* interface Base { K1 } interface Left extends Base { K2, K3 } interface Right extends Base {}
 * Top {} A extends Top implements Left { a1, a2 } B extends A implements Right, Base { b1 }
 * C extends B {} D extends C { d1, d2 } */
static struct class base = {"LBase;", NULL, {NULL}, {"K1"}, PREPARED, 0};
static struct class left = {"LLeft;", NULL, {&base}, {"K2", "K3"}, PREPARED, 0};
static struct class right = {"LRight;", NULL, {&base}, {NULL}, PREPARED, 0};
static struct class top = {"LTop;", NULL, {NULL}, {NULL}, PREPARED, 0};
static struct class a = {"LA;", &top, {&left}, {"a1", "a2"}, PREPARED, 0};
static struct class b = {"LB;", &a, {&right, &base}, {"b1"}, PREPARED, 0};
static struct class c = {"LC;", &b, {NULL}, {NULL}, PREPARED, 0};
static struct class d = {"LD;", &c, {NULL}, {"d1", "d2"}, PREPARED, 0};
static struct class loaded = {"LLoaded;", &top, {NULL}, {"x"}, 0, 0}; /* not linked */
static struct class array = {"[LA;", &top, {NULL}, {NULL}, JVMTI_CLASS_STATUS_ARRAY, 0};
static struct class *const classes[] = {&d,     &right, &loaded, &base, &c,
                                        &array, &top,   &b,      &left, &a};
enum { CLASSES = sizeof classes / sizeof classes[0] };

static unsigned allocations; /* that are not given back */

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        abort();
    allocations++;
    return memory;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
    (void) jvmti;
    allocations--;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static struct class *class_of(jobject object)
{
    return (struct class *) (void *) object;
}

static char *copy_of(const char *text)
{
    return strcpy(allocate(strlen(text) + 1), text);
}

static jvmtiError JNICALL get_loaded(jvmtiEnv *jvmti, jint *count, jclass **out)
{
    (void) jvmti;
    *count = CLASSES;
    *out = allocate(CLASSES * sizeof **out);
    for (size_t i = 0; i < CLASSES; i++)
        (*out)[i] = (jclass) (void *) classes[i];
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_status(jvmtiEnv *jvmti, jclass class, jint *status)
{
    (void) jvmti;
    *status = class_of(class)->status;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *jvmti, jclass class, char **signature,
                                        char **generic)
{
    (void) jvmti, (void) generic;
    *signature = copy_of(class_of(class)->signature);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_loader(jvmtiEnv *jvmti, jclass class, jobject *loader)
{
    (void) jvmti, (void) class;
    *loader = NULL;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_interfaces(jvmtiEnv *jvmti, jclass class, jint *count, jclass **out)
{
    (void) jvmti;
    *out = allocate(MOST * sizeof **out);
    for (*count = 0; *count < MOST && class_of(class)->interfaces[*count] != NULL; ++*count)
        (*out)[*count] = (jclass) (void *) class_of(class)->interfaces[*count];
    return JVMTI_ERROR_NONE;
}

/* A field is the address of its name. */
static jvmtiError JNICALL get_fields(jvmtiEnv *jvmti, jclass class, jint *count, jfieldID **out)
{
    (void) jvmti;
    *out = allocate(MOST * sizeof **out);
    for (*count = 0; *count < MOST && class_of(class)->fields[*count] != NULL; ++*count)
        (*out)[*count] = (jfieldID) (void *) &class_of(class)->fields[*count];
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_field_name(jvmtiEnv *jvmti, jclass class, jfieldID field, char **name,
                                         char **descriptor, char **generic)
{
    (void) jvmti, (void) class, (void) generic;
    *name = copy_of(*(const char **) (void *) field);
    *descriptor = copy_of("Ljava/lang/Object;");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_modifiers(jvmtiEnv *jvmti, jclass class, jfieldID field, jint *out)
{
    (void) jvmti, (void) class, (void) field;
    *out = 0;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *jvmti, jobject object, jlong *tag)
{
    (void) jvmti;
    *tag = class_of(object)->tag;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *jvmti, jobject object, jlong tag)
{
    (void) jvmti;
    class_of(object)->tag = tag;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ jvmti_functions = {.Deallocate = deallocate,
                                                         .GetLoadedClasses = get_loaded,
                                                         .GetClassStatus = get_status,
                                                         .GetClassSignature = get_signature,
                                                         .GetClassLoader = get_loader,
                                                         .GetImplementedInterfaces = get_interfaces,
                                                         .GetClassFields = get_fields,
                                                         .GetFieldName = get_field_name,
                                                         .GetFieldModifiers = get_modifiers,
                                                         .GetTag = get_tag,
                                                         .SetTag = set_tag};
static jvmtiEnv jvmti = &jvmti_functions;

static jclass get_super(JNIEnv *jni, jclass class)
{
    (void) jni;
    return (jclass) (void *) class_of(class)->super;
}

static jobject same_reference(JNIEnv *jni, jobject object)
{
    (void) jni;
    return object;
}

static void delete_reference(JNIEnv *jni, jobject object)
{
    (void) jni, (void) object;
}

static jboolean is_same(JNIEnv *jni, jobject one, jobject other)
{
    (void) jni;
    return one == other;
}

static jboolean has_exception(JNIEnv *jni)
{
    (void) jni;
    return JNI_FALSE;
}

static jint ensure_capacity(JNIEnv *jni, jint count)
{
    (void) jni, (void) count;
    return JNI_OK;
}

static const struct JNINativeInterface_ jni_functions = {.GetSuperclass = get_super,
                                                         .NewLocalRef = same_reference,
                                                         .NewWeakGlobalRef = same_reference,
                                                         .DeleteLocalRef = delete_reference,
                                                         .IsSameObject = is_same,
                                                         .ExceptionCheck = has_exception,
                                                         .EnsureLocalCapacity = ensure_capacity};
static JNIEnv jni = &jni_functions;

static jint get_env(JavaVM *vm, void **out, jint version)
{
    (void) vm, (void) version;
    *out = &jni;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_functions = {.GetEnv = get_env};
static JavaVM vm = &vm_functions;

/* ---- fields ---- */

static struct graph_fields *fields;

/* The name of the field with this index, as the trace defines its number: "class.name"; "": none.
 */
static const char *field_at(struct class *class, jint index)
{
    static char text[64];
    uint64_t holder = class_number_of_tag(&session, class->tag);
    uint64_t number = graph_field(fields, holder, index);
    text[0] = '\0';
    for (const uint64_t *word = session.global->base; word < session.global->cursor; word++)
        if (number != 0 &&
            *word == (number << STEP_LIVE_KIND_BITS | (uint64_t) STEP_LIVE_DEFINE_METHOD))
            for (size_t i = 0; i < CLASSES; i++)
                if (class_number_of_tag(&session, classes[i]->tag) == word[1])
                    snprintf(text, sizeof text, "%.1s.%.2s", classes[i]->signature + 1,
                             (const char *) &word[4]);
    return text;
}

static void test_indexes(void)
{
    static const struct {
        struct class *class;
        const char *names[9]; /* by index, from 0 */
    } rows[] = {
        {&top, {"", ""}},
        {&a, {"", "", "", "A.a1", "A.a2", ""}}, /* K2, K3 and K1 before it */
        {&b, {"", "", "", "A.a1", "A.a2", "B.b1", ""}},
        {&c, {"", "", "", "A.a1", "A.a2", "B.b1", ""}},
        {&d, {"", "", "", "A.a1", "A.a2", "B.b1", "D.d1", "D.d2", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (jint index = 0; index < 9 && rows[i].names[index] != NULL; index++)
            CU_ASSERT_STRING_EQUAL(field_at(rows[i].class, index), rows[i].names[index]);
}

/* A field has one number, whichever class asks for it; others have others. */
static void test_numbers(void)
{
    uint64_t of_a = class_number_of_tag(&session, a.tag);
    uint64_t of_d = class_number_of_tag(&session, d.tag);
    CU_ASSERT_EQUAL(graph_field(fields, of_a, 3), graph_field(fields, of_d, 3));
    CU_ASSERT_NOT_EQUAL(graph_field(fields, of_a, 3), graph_field(fields, of_a, 4));
    CU_ASSERT_EQUAL(graph_field(fields, of_d, 7), graph_field(fields, of_d, 7));
}

/* What is no field, or of no class that has fields, is 0: the walk counts it as unknown. */
static void test_unknown(void)
{
    uint64_t of_d = class_number_of_tag(&session, d.tag);
    CU_ASSERT_EQUAL(graph_field(fields, of_d, -1), 0);
    CU_ASSERT_EQUAL(graph_field(fields, of_d, INT32_MAX), 0);
    CU_ASSERT_EQUAL(graph_field(fields, of_d, INT32_MIN), 0);
    CU_ASSERT_EQUAL(graph_field(fields, 0, 0), 0);
    CU_ASSERT_EQUAL(graph_field(fields, UINT64_MAX, 0), 0);
    CU_ASSERT_EQUAL(graph_field(fields, class_number_of_tag(&session, array.tag), 0), 0);
    CU_ASSERT_EQUAL(loaded.tag, 0); /* a class that is not linked has no objects */
}

/* All that the JVM allocated is given back to it. */
static void test_memory(void)
{
    graph_fields_destroy(fields);
    fields = NULL;
    CU_ASSERT_EQUAL(allocations, 0);
    graph_fields_destroy(NULL);
}

static int begin_session(void)
{
    struct step_error error;
    char path[] = "/tmp/graph_fields.XXXXXX";
    int descriptor = mkstemp(path);
    tracer.vm = &vm;
    tracer.jvmti = &jvmti;
    session.number = 1;
    session.options.events = TRACED_ALLOC | TRACED_CLASS;
    pthread_mutex_init(&session.global_lock, NULL);
    if (descriptor < 0 || close(descriptor) != 0 || unlink(path) != 0)
        return 1;
    session.map = live_map_create(path, 0, 1 << 20, false, &error);
    if (session.map == NULL || unlink(path) != 0)
        return 1;
    session.global = live_stream_create(session.map, true);
    atomic_store(&tracer.session, &session);
    fields = session.global != NULL ? graph_fields_create(&session, &jni) : NULL;
    return fields == NULL;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("fields of a heap walk", begin_session, NULL);
    CU_add_test(suite, "indexes", test_indexes);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "unknown", test_unknown);
    CU_add_test(suite, "memory", test_memory);
}
