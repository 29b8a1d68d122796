/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces of native programs, and commands that say how they were called. */
#include "tests/unit/converter/recorders/small_heap_trace.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "converter/recorders/recording.h"
#include "steptrace/hatf_trace.h"

char called[4096];

static enum step_status note_call(const char *name, int argc, char **argv)
{
    size_t used = strlen(called);
    used += (size_t) snprintf(called + used, sizeof called - used, "%s", name);
    for (int i = 0; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        used += (size_t) snprintf(called + used, sizeof called - used, " %s",
                                  slash != NULL ? slash + 1 : argv[i]);
        if (i > 0 && strcmp(argv[i - 1], "-o") == 0) {
            size_t length;
            const char *bytes = scratch_read(argv[0], &length);
            FILE *file = fopen(argv[i], "wb");
            CU_ASSERT_FATAL(bytes != NULL && file != NULL);
            fwrite(bytes, 1, length, file);
            fclose(file);
        }
    }
    snprintf(called + used, sizeof called - used, "\n");
    return STEP_STATUS_OK;
}

static enum step_status note_convert(int argc, char **argv)
{
    return note_call("convert", argc, argv);
}

static enum step_status note_recover(int argc, char **argv)
{
    return note_call("recover", argc, argv);
}

static enum step_status note_heap(int argc, char **argv)
{
    puts("the summary");
    return note_call("heap", argc, argv);
}

const struct verb verbs[] = {{"convert", "", note_convert, false, VERBS_CONVERT},
                             {"recover", "", note_recover, false, VERBS_CONVERT},
                             {"heap", "", note_heap, false, VERBS_LOOK}};
const size_t verb_count = sizeof verbs / sizeof verbs[0];
const char *const verbs_left_out[] = {NULL};

static enum step_status note_page(const char *trace, const char *page, bool *is_written)
{
    *is_written = true;
    char *words[] = {(char *) trace, (char *) page};
    return note_call("page", 2, words);
}

static enum step_status print_page(const char *trace, const char *title, bool *is_written)
{
    (void) trace;
    *is_written = true;
    printf("<title>%s</title>\n", title);
    fflush(stdout);
    return STEP_STATUS_OK;
}

static const struct page_maker maker = {note_page, print_page};
const struct page_maker *const page_maker = &maker;

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    (void) error;
    return fwrite(data, 1, length, user) == length ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static void put_call(struct step_writer *writer, const struct small_call *call)
{
    const struct step_heap_alloc alloc = {
        .time = call->time, .thread = 1, .size = call->size, .address = call->address};
    const struct step_heap_free release = {
        .time = call->time, .thread = 1, .address = call->address};
    CU_ASSERT_EQUAL_FATAL(call->size != 0 ? step_heap_alloc_put(writer, 1, &alloc)
                                          : step_heap_free_put(writer, 1, &release),
                          STEP_STATUS_OK);
}

void put_heap_trace(const char *path, const struct small_call *calls, size_t count,
                    const char *const *properties)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    step_writer_options_init(&options);
    options.definition = &step_hatf_trace_definition;
    options.output = (struct step_output){file, write_file};
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (size_t i = 0; properties[i] != NULL; i += 2)
        CU_ASSERT_EQUAL(step_writer_property(writer, properties[i], properties[i + 1]),
                        STEP_STATUS_OK);
    for (size_t i = 0; i < count; i++)
        put_call(writer, &calls[i]);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    fclose(file);
}
