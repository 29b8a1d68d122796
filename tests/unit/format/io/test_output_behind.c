/* SPDX-License-Identifier: Apache-2.0 */
/* Output that follows behind: the same bytes in order, whatever the pieces; failures; packed output
 * with a thread and without. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"
#include "format/io/output_behind.h"
#include "steptrace/packed.h"
#include "tests/unit/run_suite.h"

enum { TEXT_BYTES = 5000000 };

static uint8_t *make_text(void)
{
    uint8_t *text = malloc(TEXT_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    uint64_t random = 88172645463325252;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        text[i] = (uint8_t) ((uint8_t) "abcdefgh"[random >> 61] + (i >> 18) % 8);
    }
    return text;
}

/* Writes the text in pieces of 1 to `most` bytes. */
static enum step_status write_pieces(const struct step_output *to, const uint8_t *text, size_t most,
                                     struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t at = 0, piece; at < TEXT_BYTES && status == STEP_STATUS_OK; at += piece) {
        piece = 1 + at * 7919 % most;
        piece = piece < TEXT_BYTES - at ? piece : TEXT_BYTES - at;
        status = to->write(to->user, text + at, piece, error);
    }
    return status;
}

static void test_same_bytes(void)
{
    static const size_t pieces[] = {100, 1 << 18, 3000000};
    uint8_t *text = make_text();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct step_buffer out = {0};
        const struct step_output to = step_memory_output(&out);
        struct step_output_behind *behind = step_output_behind_create(&to);
        CU_ASSERT_PTR_NOT_NULL_FATAL(behind);
        const struct step_output output = step_output_behind_as_output(behind);
        CU_ASSERT_EQUAL(write_pieces(&output, text, pieces[i], NULL), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_output_behind_finish(behind, NULL), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(to.write(to.user, "end", 3, NULL), STEP_STATUS_OK);
        step_output_behind_destroy(behind);
        CU_ASSERT_FATAL(out.length == TEXT_BYTES + 3);
        CU_ASSERT(memcmp(out.data, text, TEXT_BYTES) == 0);
        step_buffer_reset(&out);
    }
    free(text);
}

/* An output that takes so many bytes. */
struct narrow {
    size_t room;
    unsigned calls_after;
};

static enum step_status write_narrow(void *user, const void *data, size_t length,
                                     struct step_error *error)
{
    struct narrow *narrow = user;
    (void) data;
    if (length <= narrow->room) {
        narrow->room -= length;
        return STEP_STATUS_OK;
    }
    narrow->calls_after++;
    return step_error_set(error, STEP_STATUS_IO, "narrow", 7, "no room");
}

static void test_failures(void)
{
    static const size_t rooms[] = {0, 300000, 2500000, TEXT_BYTES - 1};
    uint8_t *text = make_text();
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct narrow narrow = {rooms[i], 0};
        struct step_error error = {.message = ""};
        struct step_output_behind *behind =
            step_output_behind_create(&(struct step_output){&narrow, write_narrow});
        CU_ASSERT_PTR_NOT_NULL_FATAL(behind);
        const struct step_output output = step_output_behind_as_output(behind);
        enum step_status status = write_pieces(&output, text, 5000, &error);
        if (status == STEP_STATUS_OK)
            status = step_output_behind_finish(behind, &error);
        CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
        CU_ASSERT_STRING_EQUAL(error.message, "no room");
        CU_ASSERT_EQUAL(error.offset, 7);
        CU_ASSERT_EQUAL(narrow.calls_after, 1);
        step_output_behind_destroy(behind);
    }
    free(text);
}

/* What is not finished is dropped, also while the thread is at work. */
static void test_dropped(void)
{
    uint8_t *text = make_text();
    for (unsigned i = 0; i < 20; i++) {
        struct step_buffer out = {0};
        const struct step_output to = step_memory_output(&out);
        struct step_output_behind *behind = step_output_behind_create(&to);
        CU_ASSERT_PTR_NOT_NULL_FATAL(behind);
        CU_ASSERT_EQUAL(step_output_behind_write(behind, text, i * 200000, NULL), STEP_STATUS_OK);
        step_output_behind_destroy(behind);
        CU_ASSERT(out.length <= i * 200000 && out.length % (1 << 18) == 0);
        step_buffer_reset(&out);
    }
    step_output_behind_destroy(NULL);
    free(text);
}

static struct step_buffer packed(enum step_packing packing, const uint8_t *text, bool has_thread)
{
    struct step_buffer out = {0};
    const struct step_output to = step_memory_output(&out);
    struct step_packed_output *packer = NULL;
    enum step_status status = step_packed_output_create(packing, 1, &to, &packer, NULL);
    if (packing == STEP_PACKING_ZSTD && status == STEP_STATUS_UNSUPPORTED)
        return out;
    CU_ASSERT_EQUAL_FATAL(status, STEP_STATUS_OK);
    if (has_thread)
        CU_ASSERT_EQUAL(step_packed_output_use_thread(packer, NULL), STEP_STATUS_OK);
    const struct step_output output = step_packed_output_as_output(packer);
    /* pieces of the buffer's size, since zstd's bytes depend on them */
    for (size_t at = 0; at < TEXT_BYTES; at += 1 << 18) {
        size_t left = TEXT_BYTES - at;
        CU_ASSERT_EQUAL(output.write(output.user, text + at, left < 1 << 18 ? left : 1 << 18, NULL),
                        STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_packed_output_close(packer, NULL), STEP_STATUS_OK);
    step_packed_output_destroy(packer);
    return out;
}

static void test_packed(void)
{
    static const enum step_packing packings[] = {STEP_PACKING_NONE, STEP_PACKING_GZIP,
                                                 STEP_PACKING_ZSTD};
    uint8_t *text = make_text();
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        struct step_buffer alone = packed(packings[i], text, false);
        struct step_buffer behind = packed(packings[i], text, true);
        CU_ASSERT(alone.length > 1000 || packings[i] == STEP_PACKING_ZSTD);
        CU_ASSERT(alone.length == behind.length &&
                  (alone.length == 0 || memcmp(alone.data, behind.data, alone.length) == 0));
        step_buffer_reset(&alone);
        step_buffer_reset(&behind);
    }
    free(text);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("output behind", NULL, NULL);
    CU_add_test(suite, "the same bytes", test_same_bytes);
    CU_add_test(suite, "failures", test_failures);
    CU_add_test(suite, "dropped", test_dropped);
    CU_add_test(suite, "packed", test_packed);
}
