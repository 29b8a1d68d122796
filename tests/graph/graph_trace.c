/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_trace OUT.step: lines of standard input into a trace of java.step.
 *
 *   property KEY VALUE
 *   class NAME LOADER | field CLASS NAME DESCRIPTOR MODIFIERS | method CLASS NAME DESCRIPTOR
 * MODIFIERS thread NAME FLAGS | frame PARENT METHOD LINE            (numbered from 1 in their
 * order) STREAM RECORD TIME THREAD [NUMBER]...                   (as the definition has the fields)
 *   flush
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/java_trace.h"

enum { WORDS_MOST = 16 };

static const struct {
    const char *name;
    uint32_t record;
} records[] = {
    {"start", STEP_JAVA_VM_START},
    {"init", STEP_JAVA_VM_INIT},
    {"end", STEP_JAVA_VM_DEATH},
    {"load", STEP_JAVA_CLASS_LOAD},
    {"thread", STEP_JAVA_THREAD_START},
    {"ended", STEP_JAVA_THREAD_END},
    {"alloc", STEP_JAVA_OBJECT_ALLOC},
    {"existing", STEP_JAVA_OBJECT_EXISTING},
    {"at", STEP_JAVA_OBJECT_ALLOC_AT},
    {"free", STEP_JAVA_OBJECT_FREE},
    {"unknown", STEP_JAVA_OBJECT_FREE_UNKNOWN},
    {"sampled", STEP_JAVA_OBJECT_SAMPLED},
    {"given-up", STEP_JAVA_OBJECT_GIVEN_UP},
    {"eden-class", STEP_JAVA_EDEN_CLASS},
    {"eden-survived", STEP_JAVA_EDEN_SURVIVED},
    {"eden-age", STEP_JAVA_EDEN_AGE},
    {"eden-walk", STEP_JAVA_EDEN_WALK},
    {"earlier", STEP_JAVA_OBJECT_FREE_EARLIER},
    {"death", STEP_JAVA_OBJECT_DEATH},
    {"entry", STEP_JAVA_METHOD_ENTRY},
    {"exit", STEP_JAVA_METHOD_EXIT},
    {"pop", STEP_JAVA_FRAME_POP},
    {"field", STEP_JAVA_FIELD_STORE},
    {"element", STEP_JAVA_ELEMENT_STORE},
    {"range", STEP_JAVA_RANGE_STORE},
    {"clone", STEP_JAVA_CLONE_STORE},
    {"root", STEP_JAVA_ROOT},
    {"has-field", STEP_JAVA_FIELD_REFERENCE},
    {"has-element", STEP_JAVA_ELEMENT_REFERENCE},
    {"has-other", STEP_JAVA_OTHER_REFERENCE},
    {"snapshot-end", STEP_JAVA_SNAPSHOT_END},
};

static uint64_t number(const char *text)
{
    return text != NULL ? strtoull(text, NULL, 0) : 0;
}

static struct step_bytes bytes(const char *text)
{
    text = text != NULL ? text : "";
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

static enum step_status put_event(struct step_writer *writer, char **words)
{
    uint64_t slots[WORDS_MOST] = {0};
    uint64_t stream = number(words[0]);
    if (words[1] != NULL && strcmp(words[1], "snapshot") == 0)
        return step_java_snapshot_put(writer, stream,
                                      &(struct step_java_snapshot){.time = number(words[2]),
                                                                   .thread = number(words[3]),
                                                                   .number = number(words[4]),
                                                                   .reason = bytes(words[5])});
    for (size_t i = 2; words[i] != NULL; i++)
        slots[i - 2] = number(words[i]);
    for (size_t i = 0; words[1] != NULL && i < sizeof records / sizeof records[0]; i++)
        if (strcmp(records[i].name, words[1]) == 0)
            return step_writer_put(writer, stream, records[i].record, slots);
    fprintf(stderr, "graph_trace: no record %s\n", words[1]);
    return STEP_STATUS_INVALID;
}

static enum step_status put_line(struct step_writer *writer, char **words)
{
    if (strcmp(words[0], "property") == 0)
        return step_writer_property(writer, words[1], words[2]);
    if (strcmp(words[0], "flush") == 0)
        return step_writer_flush(writer);
    if (strcmp(words[0], "class") == 0)
        return step_java_class_define(
            writer, &(struct step_java_class){bytes(words[1]), number(words[2])}, NULL);
    if (strcmp(words[0], "field") == 0)
        return step_java_field_define(writer,
                                      &(struct step_java_field){number(words[1]), bytes(words[2]),
                                                                bytes(words[3]), number(words[4])},
                                      NULL);
    if (strcmp(words[0], "method") == 0)
        return step_java_method_define(writer,
                                       &(struct step_java_method){number(words[1]), bytes(words[2]),
                                                                  bytes(words[3]),
                                                                  number(words[4])},
                                       NULL);
    if (strcmp(words[0], "thread") == 0)
        return step_java_thread_define(
            writer, &(struct step_java_thread){bytes(words[1]), number(words[2])}, NULL);
    if (strcmp(words[0], "frame") == 0)
        return step_java_frame_define(writer,
                                      &(struct step_java_frame){.parent = number(words[1]),
                                                                .method = number(words[2]),
                                                                .line = number(words[3])},
                                      NULL);
    return put_event(writer, words);
}

int main(int argc, char **argv)
{
    static char line[4096];
    struct step_writer *writer;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (argc != 2 || step_java_trace_create(argv[1], &writer, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "graph_trace: %s\n", argc != 2 ? "OUT.step is expected" : error.message);
        return 1;
    }
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && fgets(line, sizeof line, stdin) != NULL) {
        char *words[WORDS_MOST + 1] = {0}, *rest = line;
        for (size_t i = 0; i < WORDS_MOST && (words[i] = strsep(&rest, " \n")) != NULL; i++)
            if (*words[i] == '\0')
                words[i--] = NULL;
        if (words[0] != NULL && words[0][0] != '#')
            status = put_line(writer, words);
    }
    enum step_status closed = step_writer_close(writer, &error);
    step_writer_destroy(writer);
    if (status != STEP_STATUS_OK || closed != STEP_STATUS_OK)
        fprintf(stderr, "graph_trace: %s\n", error.message);
    return status != STEP_STATUS_OK || closed != STEP_STATUS_OK;
}
