/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of types and of their fields, and the metadata event made of them: strings, then a
 * tree of elements with attributes, which name strings by number.
 */
#include "converter/formats/jfr/jfr_types.h"

#include <stdio.h>
#include <string.h>

enum text_encoding { TEXT_NULL = 0, TEXT_UTF8 = 3 };

void jfr_put_number(struct byte_output *bytes, uint64_t value)
{
    uint8_t out[9];
    size_t length = 0;
    for (; length < 8 && value >= 0x80; value >>= 7)
        out[length++] = (uint8_t) (value | 0x80);
    out[length++] = (uint8_t) value;
    bytes_put(bytes, out, length);
}

void jfr_put_text(struct byte_output *out, struct step_bytes text)
{
    struct step_bytes valid = bytes_valid_text(out, text);
    bytes_put_little(out, TEXT_UTF8, 1);
    jfr_put_number(out, valid.length);
    bytes_put(out, valid.data, valid.length);
}

void jfr_put_optional_text(struct byte_output *bytes, const char *text)
{
    if (text == NULL)
        bytes_put_little(bytes, TEXT_NULL, 1);
    else
        jfr_put_text(bytes, step_text(text));
}

void jfr_put_event(struct byte_output *bytes, const struct byte_output *body)
{
    size_t own = 1; /* the size counts itself */
    while (own < 9 && (body->bytes.length + own) >> (7 * own) != 0)
        own++;
    jfr_put_number(bytes, body->bytes.length + own);
    bytes_put_part(bytes, body);
}

/* ---- the tables ---- */

/* ---- fields of constants and samples: those of the JDK's recordings, in their order and no more,
 * as some readers go by that ---- */

enum field_flag { IN_POOL = 1, IS_ARRAY = 2, IS_UNSIGNED = 4 };

struct field {
    const char *name;
    enum jfr_type type;
    const char *label;
    unsigned flags;
    enum jfr_type content; /* an annotation that says what the number is; 0: none */
    const char *unit;      /* its value; NULL: none */
};

struct type {
    enum jfr_type id;
    const char *name;
    const char *super;
    const char *label;
    const char *description;
    const char *category[3];
    const struct field *fields;
    bool is_simple;  /* readers replace it by its only field */
    bool is_content; /* an annotation that says what a number is */
};

#define START_TIME "startTime", JFR_LONG, "Start Time", 0, JFR_TIMESTAMP, "TICKS"
#define EVENT_THREAD "eventThread", JFR_THREAD, "Event Thread", IN_POOL, 0, NULL
#define STACK_TRACE "stackTrace", JFR_STACK_TRACE, "Stack Trace", IN_POOL, 0, NULL
#define BYTES(name, label) name, JFR_LONG, label, 0, JFR_DATA_AMOUNT, "BYTES"
#define COUNT(name, label) name, JFR_LONG, label, 0, 0, NULL
#define TEXT(name, label) name, JFR_STRING, label, 0, 0, NULL
#define POOLED(name, type, label) name, type, label, IN_POOL, 0, NULL

static const struct field value_fields[] = {{TEXT("value", NULL)}, {.name = NULL}};
static const struct field values_fields[] = {{"value", JFR_STRING, NULL, IS_ARRAY, 0, NULL},
                                             {.name = NULL}};
static const struct field symbol_fields[] = {{TEXT("string", "String")}, {.name = NULL}};
static const struct field description_fields[] = {{TEXT("description", "Description")},
                                                  {.name = NULL}};
static const struct field when_fields[] = {{TEXT("when", "When")}, {.name = NULL}};
static const struct field package_fields[] = {{POOLED("name", JFR_SYMBOL, "Name")}, {.name = NULL}};
static const struct field class_fields[] = {
    {POOLED("classLoader", JFR_CLASS_LOADER, "Class Loader")},
    {POOLED("name", JFR_SYMBOL, "Name")},
    {POOLED("package", JFR_PACKAGE, "Package")},
    {"modifiers", JFR_INT, "Access Modifiers", 0, 0, NULL},
    {.name = NULL}};
static const struct field loader_fields[] = {
    {POOLED("type", JFR_CLASS, "Type")}, {POOLED("name", JFR_SYMBOL, "Name")}, {.name = NULL}};
static const struct field method_fields[] = {{POOLED("type", JFR_CLASS, "Type")},
                                             {POOLED("name", JFR_SYMBOL, "Name")},
                                             {POOLED("descriptor", JFR_SYMBOL, "Descriptor")},
                                             {"modifiers", JFR_INT, "Access Modifiers", 0, 0, NULL},
                                             {"hidden", JFR_BOOLEAN, "Hidden", 0, 0, NULL},
                                             {.name = NULL}};
static const struct field thread_fields[] = {{TEXT("osName", "OS Thread Name")},
                                             {COUNT("osThreadId", "OS Thread Id")},
                                             {TEXT("javaName", "Java Thread Name")},
                                             {COUNT("javaThreadId", "Java Thread Id")},
                                             {"virtual", JFR_BOOLEAN, "Virtual Thread", 0, 0, NULL},
                                             {.name = NULL}};
static const struct field stack_fields[] = {
    {"truncated", JFR_BOOLEAN, "Truncated", 0, 0, NULL},
    {"frames", JFR_STACK_FRAME, "Stack Frames", IS_ARRAY, 0, NULL},
    {.name = NULL}};
static const struct field frame_fields[] = {
    {POOLED("method", JFR_METHOD, "Java Method")},
    {"lineNumber", JFR_INT, "Line Number", 0, 0, NULL},
    {"bytecodeIndex", JFR_INT, "Bytecode Index", 0, 0, NULL},
    {POOLED("type", JFR_FRAME_TYPE, "Frame Type")},
    {.name = NULL}};
static const struct field sample_fields[] = {{START_TIME},
                                             {EVENT_THREAD},
                                             {STACK_TRACE},
                                             {POOLED("objectClass", JFR_CLASS, "Object Class")},
                                             {BYTES("weight", "Sample Weight")},
                                             {.name = NULL}};
static const struct field load_fields[] = {{START_TIME},
                                           {EVENT_THREAD},
                                           {POOLED("loadedClass", JFR_CLASS, "Loaded Class")},
                                           {.name = NULL}};
static const struct field collection_fields[] = {
    {START_TIME},
    {"gcId", JFR_INT, "GC Identifier", IS_UNSIGNED, 0, NULL},
    {TEXT("name", "Name")},
    {"longestPause", JFR_LONG, "Longest Pause", 0, JFR_TIMESPAN, "NANOSECONDS"},
    {COUNT("freedObjects", "Objects Found Dead")},
    {BYTES("freedBytes", "Bytes Found Dead")},
    {.name = NULL}};
static const struct field generation_fields[] = {
    {START_TIME}, {"gcId", JFR_INT, "GC Identifier", IS_UNSIGNED, 0, NULL}, {.name = NULL}};
static const struct field heap_fields[] = {{START_TIME},
                                           {"gcId", JFR_INT, "GC Identifier", IS_UNSIGNED, 0, NULL},
                                           {POOLED("when", JFR_GC_WHEN, "When")},
                                           {BYTES("heapUsed", "Heap Used")},
                                           {.name = NULL}};
static const struct field jvm_fields[] = {
    {START_TIME},
    {TEXT("jvmName", "JVM Name")},
    {TEXT("jvmVersion", "JVM Version")},
    {TEXT("jvmArguments", "JVM Command Line Arguments")},
    {TEXT("javaArguments", "Java Application Arguments")},
    {"jvmStartTime", JFR_LONG, "JVM Start Time", 0, JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"},
    {COUNT("pid", "Process Identifier")},
    {.name = NULL}};
static const struct field timing_fields[] = {
    {START_TIME},
    {POOLED("method", JFR_METHOD, "Method")},
    {COUNT("invocations", "Invocations")},
    {"minimum", JFR_LONG, "Minimum Time", 0, JFR_TIMESPAN, "TICKS"},
    {"average", JFR_LONG, "Average Time", 0, JFR_TIMESPAN, "TICKS"},
    {"maximum", JFR_LONG, "Maximum Time", 0, JFR_TIMESPAN, "TICKS"},
    {COUNT("exceptions", "Invocations Ended by an Exception")},
    {"inclusive", JFR_LONG, "Time with Callees", 0, JFR_TIMESPAN, "TICKS"},
    {"exclusive", JFR_LONG, "Time without Callees", 0, JFR_TIMESPAN, "TICKS"},
    {.name = NULL}};
static const struct field trace_fields[] = {
    {START_TIME},
    {"duration", JFR_LONG, "Duration", 0, JFR_TIMESPAN, "TICKS"},
    {EVENT_THREAD},
    {STACK_TRACE},
    {POOLED("method", JFR_METHOD, "Method")},
    {.name = NULL}};
static const struct field thread_event_fields[] = {
    {START_TIME}, {EVENT_THREAD}, {POOLED("thread", JFR_THREAD, "Java Thread")}, {.name = NULL}};
static const struct field lifetime_fields[] = {
    {START_TIME},
    {STACK_TRACE},
    {POOLED("objectClass", JFR_CLASS, "Object Class")},
    {COUNT("objects", "Allocated Objects")},
    {BYTES("bytes", "Allocated Bytes")},
    {COUNT("deadObjects", "Dead Objects")},
    {BYTES("deadBytes", "Dead Bytes")},
    {"lifetimes", JFR_LONG, "Sum of the Lifetimes of Dead Objects", 0, JFR_TIMESPAN, "NANOSECONDS"},
    {"meanLifetime", JFR_LONG, "Mean Lifetime of Dead Objects", 0, JFR_TIMESPAN, "NANOSECONDS"},
    {.name = NULL}};

#define JVM "Java Virtual Machine"

/* clang-format off */
#define CONSTANT(number, called, labelled, with, simple) \
    {.id = number, .name = called, .label = labelled, .fields = with, .is_simple = simple}
#define ANNOTATION(number, called, with, content) \
    {.id = number, .name = called, .super = "java.lang.annotation.Annotation", .fields = with, \
     .is_content = content}
#define EVENT(number, called, labelled, described, with, ...) \
    {.id = number, .name = called, .super = "jdk.jfr.Event", .label = labelled, \
     .description = described, .category = {__VA_ARGS__}, .fields = with}
/* clang-format on */

static const struct type types[] = {
    {.id = JFR_BOOLEAN, .name = "boolean"},
    {.id = JFR_INT, .name = "int"},
    {.id = JFR_LONG, .name = "long"},
    {.id = JFR_STRING, .name = "java.lang.String"},
    CONSTANT(JFR_CLASS, "java.lang.Class", "Java Class", class_fields, false),
    CONSTANT(JFR_CLASS_LOADER, "jdk.types.ClassLoader", "Java Class Loader", loader_fields, false),
    CONSTANT(JFR_METHOD, "jdk.types.Method", "Java Method", method_fields, false),
    CONSTANT(JFR_PACKAGE, "jdk.types.Package", "Package", package_fields, false),
    CONSTANT(JFR_STACK_TRACE, "jdk.types.StackTrace", "Stacktrace", stack_fields, false),
    CONSTANT(JFR_SYMBOL, "jdk.types.Symbol", "Symbol", symbol_fields, true),
    CONSTANT(JFR_THREAD, "java.lang.Thread", "Thread", thread_fields, false),
    CONSTANT(JFR_FRAME_TYPE, "jdk.types.FrameType", "Frame type", description_fields, true),
    CONSTANT(JFR_GC_WHEN, "jdk.types.GCWhen", "GC When", when_fields, true),
    CONSTANT(JFR_STACK_FRAME, "jdk.types.StackFrame", NULL, frame_fields, false),
    ANNOTATION(JFR_CATEGORY, "jdk.jfr.Category", values_fields, false),
    ANNOTATION(JFR_CONTENT_TYPE, "jdk.jfr.ContentType", NULL, false),
    ANNOTATION(JFR_DATA_AMOUNT, "jdk.jfr.DataAmount", value_fields, true),
    ANNOTATION(JFR_DESCRIPTION, "jdk.jfr.Description", value_fields, false),
    ANNOTATION(JFR_LABEL, "jdk.jfr.Label", value_fields, false),
    ANNOTATION(JFR_TIMESPAN, "jdk.jfr.Timespan", value_fields, true),
    ANNOTATION(JFR_TIMESTAMP, "jdk.jfr.Timestamp", value_fields, true),
    ANNOTATION(JFR_UNSIGNED, "jdk.jfr.Unsigned", NULL, true),
    EVENT(JFR_ALLOCATION_SAMPLE, "jdk.ObjectAllocationSample", "Object Allocation Sample",
          "What one thread allocated of one class at one stack in an interval (exact)",
          sample_fields, "Java Application"),
    EVENT(JFR_CLASS_LOAD, "jdk.ClassLoad", "Class Load", NULL, load_fields, JVM, "Class Loading"),
    EVENT(JFR_GARBAGE_COLLECTION, "jdk.GarbageCollection", "Garbage Collection",
          "A collection that found recorded objects dead", collection_fields, JVM, "GC",
          "Collector"),
    EVENT(JFR_HEAP_SUMMARY, "jdk.GCHeapSummary", "Heap Summary",
          "Bytes of the recorded objects before and after a collection", heap_fields, JVM, "GC",
          "Heap"),
    EVENT(JFR_JVM_INFORMATION, "jdk.JVMInformation", "JVM Information", NULL, jvm_fields, JVM),
    EVENT(JFR_METHOD_TIMING, "jdk.MethodTiming", "Method Timing",
          "Calls of a method in the whole trace", timing_fields, JVM, "Method Tracing"),
    EVENT(JFR_METHOD_TRACE, "jdk.MethodTrace", "Method Trace", "A call", trace_fields, JVM,
          "Method Tracing"),
    EVENT(JFR_THREAD_START, "jdk.ThreadStart", "Java Thread Start", NULL, thread_event_fields,
          "Java Application"),
    EVENT(JFR_THREAD_END, "jdk.ThreadEnd", "Java Thread End", NULL, thread_event_fields,
          "Java Application"),
    EVENT(JFR_OBJECT_LIFETIME, "steptrace.ObjectLifetime", "Object Lifetime",
          "How many objects of a class and stack were allocated and died, and how long the dead "
          "ones lived",
          lifetime_fields, "StepTrace"),
    EVENT(JFR_OLD_COLLECTION, "jdk.OldGarbageCollection", "Old Garbage Collection", NULL,
          generation_fields, JVM, "GC", "Collector"),
    EVENT(JFR_YOUNG_COLLECTION, "jdk.YoungGarbageCollection", "Young Garbage Collection", NULL,
          generation_fields, JVM, "GC", "Collector"),
};

enum { TYPE_COUNT = sizeof types / sizeof types[0], STRINGS_MOST = 512, NUMBER_TEXT = 16 };

/* ---- the event ---- */

struct metadata {
    struct byte_output strings, tree;
    const char *known[STRINGS_MOST]; /* borrowed */
    size_t count;
};

static void jfr_types_put_string(struct metadata *metadata, const char *text)
{
    size_t i = 0;
    while (i < metadata->count && strcmp(metadata->known[i], text) != 0)
        i++;
    if (i == metadata->count && metadata->count < STRINGS_MOST) {
        jfr_put_optional_text(&metadata->strings, text);
        metadata->known[metadata->count++] = text;
    }
    metadata->tree.failed = metadata->tree.failed || i == STRINGS_MOST; /* never: raise it */
    jfr_put_number(&metadata->tree, i);
}

static void put_attribute(struct metadata *metadata, const char *key, const char *value)
{
    jfr_types_put_string(metadata, key);
    jfr_types_put_string(metadata, value);
}

static void put_id(struct metadata *metadata, const char *key, enum jfr_type id)
{
    static char texts[JFR_TYPE_END][NUMBER_TEXT];
    snprintf(texts[id], NUMBER_TEXT, "%u", (unsigned) id);
    put_attribute(metadata, key, texts[id]);
}

static void begin_element(struct metadata *metadata, const char *name, size_t attributes)
{
    jfr_types_put_string(metadata, name);
    jfr_put_number(&metadata->tree, attributes);
}

static void put_annotation(struct metadata *metadata, enum jfr_type id, const char *value)
{
    begin_element(metadata, "annotation", value != NULL ? 2 : 1);
    put_id(metadata, "class", id);
    if (value != NULL)
        put_attribute(metadata, "value", value);
    jfr_put_number(&metadata->tree, 0);
}

static void put_category(struct metadata *metadata, const struct type *type)
{
    static const char *const keys[] = {"value-0", "value-1", "value-2"};
    size_t count = 0;
    while (count < 3 && type->category[count] != NULL)
        count++;
    begin_element(metadata, "annotation", 1 + count);
    put_id(metadata, "class", JFR_CATEGORY);
    for (size_t i = 0; i < count; i++)
        put_attribute(metadata, keys[i], type->category[i]);
    jfr_put_number(&metadata->tree, 0);
}

static void jfr_types_put_field(struct metadata *metadata, const struct field *field)
{
    bool in_pool = (field->flags & IN_POOL) != 0, is_array = (field->flags & IS_ARRAY) != 0;
    bool is_unsigned = (field->flags & IS_UNSIGNED) != 0;
    begin_element(metadata, "field", 2u + in_pool + is_array);
    put_attribute(metadata, "name", field->name);
    put_id(metadata, "class", field->type);
    if (in_pool)
        put_attribute(metadata, "constantPool", "true");
    if (is_array)
        put_attribute(metadata, "dimension", "1");
    jfr_put_number(&metadata->tree,
                   0u + (field->label != NULL) + (field->content != 0) + is_unsigned);
    if (field->label != NULL)
        put_annotation(metadata, JFR_LABEL, field->label);
    if (field->content != 0)
        put_annotation(metadata, field->content, field->unit);
    if (is_unsigned)
        put_annotation(metadata, JFR_UNSIGNED, NULL);
}

static void jfr_types_put(struct metadata *metadata, const struct type *type)
{
    size_t field_count = 0;
    while (type->fields != NULL && type->fields[field_count].name != NULL)
        field_count++;
    begin_element(metadata, "class", 2u + (type->super != NULL) + type->is_simple);
    put_id(metadata, "id", type->id);
    put_attribute(metadata, "name", type->name);
    if (type->super != NULL)
        put_attribute(metadata, "superType", type->super);
    if (type->is_simple)
        put_attribute(metadata, "simpleType", "true");
    jfr_put_number(&metadata->tree, field_count + (type->label != NULL) +
                                        (type->description != NULL) + (type->category[0] != NULL) +
                                        type->is_content);
    if (type->label != NULL)
        put_annotation(metadata, JFR_LABEL, type->label);
    if (type->description != NULL)
        put_annotation(metadata, JFR_DESCRIPTION, type->description);
    if (type->category[0] != NULL)
        put_category(metadata, type);
    if (type->is_content)
        put_annotation(metadata, JFR_CONTENT_TYPE, NULL);
    for (size_t i = 0; i < field_count; i++)
        jfr_types_put_field(metadata, &type->fields[i]);
}

static void jfr_types_put_tree(struct metadata *metadata)
{
    begin_element(metadata, "root", 0);
    jfr_put_number(&metadata->tree, 2);
    begin_element(metadata, "metadata", 0);
    jfr_put_number(&metadata->tree, TYPE_COUNT);
    for (size_t i = 0; i < TYPE_COUNT; i++)
        jfr_types_put(metadata, &types[i]);
    begin_element(metadata, "region", 2);
    put_attribute(metadata, "locale", "en_GB");
    put_attribute(metadata, "gmtOffset", "0");
    jfr_put_number(&metadata->tree, 0);
}

void jfr_put_metadata(struct byte_output *out)
{
    struct metadata metadata = {.count = 0};
    struct byte_output body = {.failed = false};
    jfr_types_put_tree(&metadata);
    jfr_put_number(&body, JFR_METADATA_EVENT);
    jfr_put_number(&body, 0); /* start */
    jfr_put_number(&body, 0); /* duration */
    jfr_put_number(&body, 1); /* number of the metadata: all chunks have the same */
    jfr_put_number(&body, metadata.count);
    bytes_put_part(&body, &metadata.strings);
    bytes_put_part(&body, &metadata.tree);
    jfr_put_event(out, &body);
    out->failed = out->failed || body.failed;
    bytes_reset(&metadata.strings);
    bytes_reset(&metadata.tree);
    bytes_reset(&body);
}
