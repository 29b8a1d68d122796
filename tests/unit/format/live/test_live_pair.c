/* SPDX-License-Identifier: Apache-2.0 */
/* A live file beside a trace of another definition: its raw records are not put where the trace has
 * texts. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/core/bytes.h"
#include "format/io/memory_output.h"
#include "steptrace/hatf_trace.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"
#include "tests/unit/run_suite.h"

static char live_path[] = "/tmp/steptrace-unit-XXXXXX";

static bool write_live(int file, uint64_t definition, const uint64_t *words, size_t count)
{
    uint8_t page[STEP_LIVE_PAGE] = {0};
    struct step_live_header header = {.magic = STEP_LIVE_MAGIC,
                                      .version = STEP_LIVE_VERSION,
                                      .page_bytes = STEP_LIVE_PAGE,
                                      .clock_multiplier = 1,
                                      .resolution_ns = 1,
                                      .definition = definition};
    struct step_live_chunk chunk = {.magic = STEP_LIVE_CHUNK_MAGIC,
                                    .size_bytes = STEP_LIVE_PAGE,
                                    .state = STEP_LIVE_ACTIVE,
                                    .stream = 2,
                                    .used = count * sizeof *words};
    memcpy(page, &header, sizeof header);
    bool ok = pwrite(file, page, sizeof page, 0) == (ssize_t) sizeof page;
    memset(page, 0, sizeof page);
    memcpy(page, &chunk, sizeof chunk);
    memcpy(page + sizeof chunk, words, count * sizeof *words);
    return ok && pwrite(file, page, sizeof page, STEP_LIVE_PAGE) == (ssize_t) sizeof page;
}

/* One record of the kind, in a live file for that definition. */
static void make_live(uint64_t definition)
{
    const uint64_t java[] = {STEP_LIVE_ALLOC, 1 | UINT64_C(3) << 32, 41};
    const uint64_t heap[] = {STEP_LIVE_HEAP_ALLOC, 24, 4096};
    int file = open(live_path, O_RDWR | O_TRUNC | O_CLOEXEC);
    CU_ASSERT_TRUE_FATAL(file >= 0);
    CU_ASSERT_TRUE(
        write_live(file, definition, definition == STEP_LIVE_DEFINITION_HEAP ? heap : java, 3));
    close(file);
}

static enum step_status recover(uint64_t live_definition, const struct step_definition *definition)
{
    struct step_buffer bytes = {0};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&bytes);
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    make_live(live_definition);
    enum step_status status = step_live_recover(live_path, writer, NULL, NULL);
    if (status == STEP_STATUS_OK)
        CU_ASSERT_EQUAL(step_writer_put_count(writer, 2), 1);
    step_writer_destroy(writer);
    step_buffer_reset(&bytes);
    return status;
}

/* The same with a definition of that text. */
static enum step_status recover_text(uint64_t live_definition, const char *text, size_t length)
{
    struct step_definition *definition = NULL;
    struct step_error error;
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, length, "test", NULL, NULL, &definition, &error),
        STEP_STATUS_OK);
    enum step_status status = recover(live_definition, definition);
    step_definition_destroy(definition);
    return status;
}

/* As many records as Java has, of texts. */
static void test_texts(void)
{
    static char text[8192];
    size_t length = (size_t) snprintf(text, sizeof text, "package p {\n");
    for (unsigned i = 0; i < STEP_JAVA_RECORD_COUNT + 4; i++)
        length += (size_t) snprintf(text + length, sizeof text - length,
                                    "record R%u { data a; data b; data c; data d; data e; }\n", i);
    length += (size_t) snprintf(text + length, sizeof text - length, "}\n");
    CU_ASSERT_EQUAL(recover_text(STEP_LIVE_DEFINITION_JAVA, text, length), STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(recover_text(STEP_LIVE_DEFINITION_HEAP, text, length), STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(recover_text(2, text, length), STEP_STATUS_UNSUPPORTED);
}

/* The definition with one word changed for another of the same length or shorter. */
static enum step_status recover_changed(uint64_t kind, const struct step_definition *definition,
                                        const char *from, const char *to)
{
    char *text = strdup(definition->text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    char *at = strstr(text, from);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    memset(at, ' ', strlen(from));
    memcpy(at, to, strlen(to));
    enum step_status status = recover_text(kind, text, strlen(text));
    free(text);
    return status;
}

/* The names are right, but a field is of another type, or another field. */
static void test_changed_fields(void)
{
    const struct step_definition *java = &step_java_trace_definition,
                                 *heap = &step_hatf_trace_definition;
    CU_ASSERT_EQUAL(recover_changed(0, java,
                                    "int object <property:\"unsigned\"> <encoding:\"stride=1\">",
                                    "string object"),
                    STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(recover_changed(0, java, "record VMInit", "record VMOpen"),
                    STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(recover_changed(1, heap, "int size <", "int[] s <"), STEP_STATUS_UNSUPPORTED);
    /* how it is encoded is the trace's own affair */
    CU_ASSERT_EQUAL(recover_changed(0, java, "<encoding:\"stride=1\">", "<encoding:\"delta\">"),
                    STEP_STATUS_OK);
}

static void test_own(void)
{
    CU_ASSERT_EQUAL(recover(STEP_LIVE_DEFINITION_JAVA, &step_java_trace_definition),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(recover(STEP_LIVE_DEFINITION_HEAP, &step_hatf_trace_definition),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(recover(STEP_LIVE_DEFINITION_JAVA, &step_hatf_trace_definition),
                    STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(recover(STEP_LIVE_DEFINITION_HEAP, &step_java_trace_definition),
                    STEP_STATUS_UNSUPPORTED);
}

static int make_file(void)
{
    int descriptor = mkstemp(live_path);
    return descriptor < 0 || close(descriptor) != 0;
}

static int remove_file(void)
{
    return unlink(live_path);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("live pair", make_file, remove_file);
    CU_add_test(suite, "a trace of texts", test_texts);
    CU_add_test(suite, "changed fields", test_changed_fields);
    CU_add_test(suite, "the right one", test_own);
}
