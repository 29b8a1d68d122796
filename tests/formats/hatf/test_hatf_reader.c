/* SPDX-License-Identifier: Apache-2.0 */
/* The HATF reader against bad input: every fault with its place, cuts and changes at every byte,
 * inputs that come in pieces or fail, random streams. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf.h"
#include "tests/unit/run_suite.h"

struct outcome {
    enum step_status status;
    uint64_t records;
    struct step_error error;
};

static struct outcome drain(struct hatf_reader *reader)
{
    struct outcome outcome = {.records = 0};
    struct hatf_record record;
    while ((outcome.status = hatf_reader_next(reader, &record, &outcome.error)) == STEP_STATUS_OK) {
        outcome.records++;
        unsigned sum = 0; /* touches what the record points to */
        for (size_t i = 0; i < record.attributes.length; i++)
            sum |= record.attributes.data[i];
        for (size_t i = 0; i < record.comment.length; i++)
            sum |= record.comment.data[i];
        CU_ASSERT_TRUE(sum <= 255);
    }
    struct step_error again = {.offset = 0};
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, &again), outcome.status);
    if (outcome.status != STEP_STATUS_END)
        CU_ASSERT_EQUAL(again.offset, outcome.error.offset);
    CU_ASSERT_EQUAL(hatf_reader_record_number(reader), outcome.records);
    hatf_reader_destroy(reader);
    return outcome;
}

static struct outcome read_memory(const void *data, size_t length)
{
    struct hatf_reader *reader = NULL;
    uint8_t *copy = malloc(length > 0 ? length : 1); /* exact, so that ASan sees its end */
    memcpy(copy, data, length);
    CU_ASSERT_EQUAL_FATAL(hatf_reader_create_memory(copy, length, "bad.hatf", &reader, NULL),
                          STEP_STATUS_OK);
    struct outcome outcome = drain(reader);
    free(copy);
    return outcome;
}

static void test_faults(void)
{
    static const struct {
        const char *data;
        size_t length;
        enum step_status status;
        uint64_t offset;
        const char *message;
    } bad[] = {
        {"\xc", 1, STEP_STATUS_CORRUPT, 0, "record 1: unknown tag"},
        {"\x8\x9\xff", 3, STEP_STATUS_CORRUPT, 2, "record 3: unknown tag"},
        {"\xa\0\2hi\x8\xc", 7, STEP_STATUS_CORRUPT, 6, "record 3: unknown tag"},
        {"\xb\0\0\0", 4, STEP_STATUS_CORRUPT, 0, "record 1: unknown metadata operation"},
        {"\x8\xb\3\0\0", 5, STEP_STATUS_CORRUPT, 1, "record 2: unknown metadata operation"},
        {"\xb\1\6\0", 4, STEP_STATUS_CORRUPT, 0, "record 1: unknown field"},
        {"\xb\2\xff\0", 4, STEP_STATUS_CORRUPT, 0, "record 1: unknown field"},
        {"\xb\1\0\3", 4, STEP_STATUS_CORRUPT, 0, "record 1: unknown width"},
        {"\xb\1\5\xb", 4, STEP_STATUS_CORRUPT, 0, "record 1: unknown width"},
        {"\xb\1\0\x9", 4, STEP_STATUS_CORRUPT, 0,
         "record 1: width v1 or v2 for a field with a number"},
        {"\xb\1\4\xa", 4, STEP_STATUS_CORRUPT, 0,
         "record 1: width v1 or v2 for a field with a number"},
        {"\xb\2\0\5\0\0\0\0\0\0\0\0", 12, STEP_STATUS_CORRUPT, 0,
         "record 1: unknown interpretation"},
        {"\0", 1, STEP_STATUS_CUT, 0, "record 1: the file ends inside the record"},
        {"\x8\1\0\0\0", 5, STEP_STATUS_CUT, 1, "record 2: the file ends inside the record"},
        {"\xa\0\3hi", 5, STEP_STATUS_CUT, 0, "record 1: the file ends inside the record"},
        {"\xb\1\0", 3, STEP_STATUS_CUT, 0, "record 1: the file ends inside the record"},
        {"\xb\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 19, STEP_STATUS_CUT, 0,
         "record 1: the file ends inside the record"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct outcome outcome = read_memory(bad[i].data, bad[i].length);
        CU_ASSERT_EQUAL(outcome.status, bad[i].status);
        CU_ASSERT_EQUAL(outcome.error.offset, bad[i].offset);
        CU_ASSERT_STRING_EQUAL(outcome.error.message, bad[i].message);
        CU_ASSERT_STRING_EQUAL(outcome.error.file, "bad.hatf");
    }
    CU_ASSERT_EQUAL(read_memory("", 0).status, STEP_STATUS_END);
}

/* Every tag, interpretation and width, in one small file; `starts` are the records' offsets. */
static const char everything[] = "\xa\0\x8HATF 1.0"
                                 "\xb\1\0\2"
                                 "\xb\2\1\3\0\0\0\0\0\0\3\xe8"
                                 "\xb\2\2\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5"
                                 "\xb\2\3\0\xb\1\3\1"
                                 "\xb\2\4\2\0\0\0\0\0\0\0\1\xb\1\4\x8"
                                 "\xb\2\5\0\xb\1\5\x9"
                                 "\0\0\x18\0\0\0\x10\1\0\0\0\0\0\0\0\1\2ab"
                                 "\xb\1\5\xa"
                                 "\1\xff\xff\xff\xf0\1\0\0\0\0\0\0\0\1\0\3abc"
                                 "\2\0\1\0\0\0\1\0\0\0\1\1\0\0\0\0\0\0\0\1\0\0"
                                 "\xb\1\5\4"
                                 "\6\0\0\0\0\0\0\0\1\1wxyz\7\0\0\0\0\0\0\0\1\1wxyz"
                                 "\xb\2\5\1\0\0\0\0\0\0\0\0"
                                 "\x8\1\x9\1";
static const uint8_t starts[] = {0,  11, 15,  27,  47,  51,  55,  67,  71,  75,
                                 79, 98, 102, 121, 143, 147, 161, 175, 187, 189};

/* The state of a field follows the metadata and the records that were read. */
static void test_field_states(void)
{
    static const uint8_t bytes[] = {0xb, 1, 0, 2,                          /* size: 2 bytes */
                                    0,   1, 2, 9, 8, 7, 6,                 /* alloc */
                                    0xb, 2, 3, 1, 0, 0, 0, 0, 0, 0, 0, 5}; /* thread: 5 */
    struct hatf_reader *reader = NULL;
    struct hatf_record record;
    CU_ASSERT_EQUAL_FATAL(hatf_reader_create_memory(bytes, sizeof bytes, "m", &reader, NULL),
                          STEP_STATUS_OK);
    const struct hatf_field_state *size = hatf_reader_field(reader, HATF_SIZE);
    const struct hatf_field_state *thread = hatf_reader_field(reader, HATF_THREAD);
    CU_ASSERT_EQUAL(size->width, HATF_WIDTH_4);
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(size->width, HATF_WIDTH_2);
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(size->previous, 0x102);
    CU_ASSERT_EQUAL(hatf_reader_field(reader, HATF_ADDRESS)->previous, 0x9080706);
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(thread->interpretation, HATF_DEFAULT);
    CU_ASSERT_EQUAL(thread->value, 5);
    CU_ASSERT_PTR_NULL(hatf_reader_field(reader, HATF_FIELD_COUNT));
    hatf_reader_destroy(reader);
}

static void test_cut(void)
{
    size_t length = sizeof everything - 1;
    size_t count = sizeof starts;
    struct outcome outcome = read_memory(everything, length);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_EQUAL(outcome.records, count);
    for (size_t cut = 0; cut < length; cut++) {
        size_t whole = 0; /* records that end at or before the cut */
        while (whole + 1 < count && starts[whole + 1] <= cut)
            whole++;
        bool between = starts[whole] == cut;
        outcome = read_memory(everything, cut);
        CU_ASSERT_EQUAL(outcome.records, whole);
        CU_ASSERT_EQUAL(outcome.status, between ? STEP_STATUS_END : STEP_STATUS_CUT);
        if (!between)
            CU_ASSERT_EQUAL(outcome.error.offset, starts[whole]);
        if (outcome.records != whole)
            printf("cut at %zu: %llu records\n", cut, (unsigned long long) outcome.records);
    }
}

static void test_changed_bytes(void)
{
    size_t length = sizeof everything - 1;
    uint8_t data[sizeof everything];
    for (size_t at = 0; at < length * 16; at++) {
        memcpy(data, everything, length);
        /* every bit turned, and every tag, operation, field, width and interpretation */
        uint8_t old = data[at / 16];
        data[at / 16] = (uint8_t) (at % 16 < 8 ? old ^ (1u << at % 16) : old + at % 16 - 7);
        struct outcome outcome = read_memory(data, length);
        CU_ASSERT_TRUE(outcome.status == STEP_STATUS_END || outcome.status == STEP_STATUS_CUT ||
                       outcome.status == STEP_STATUS_CORRUPT);
        if (outcome.status != STEP_STATUS_END)
            CU_ASSERT_TRUE(outcome.error.offset < length);
    }
}

/* An input that gives at most `piece` bytes at a time, and fails after `fail_at`. */
struct pieces {
    const uint8_t *data;
    size_t length;
    size_t at;
    size_t piece;
    size_t fail_at;
};

static enum step_status read_piece(void *user, void *buffer, size_t size, size_t *got,
                                   struct step_error *error)
{
    struct pieces *pieces = user;
    if (pieces->at >= pieces->fail_at)
        return step_error_set(error, STEP_STATUS_IO, "pieces", pieces->at, "broken");
    size_t length = pieces->length - pieces->at;
    length = length < size ? length : size;
    length = length < pieces->piece ? length : pieces->piece;
    memcpy(buffer, pieces->data + pieces->at, length);
    pieces->at += length;
    *got = length;
    return STEP_STATUS_OK;
}

static struct outcome read_pieces(struct pieces *pieces)
{
    const struct hatf_input input = {pieces, read_piece};
    struct hatf_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(hatf_reader_create(&input, "pieces", &reader, NULL), STEP_STATUS_OK);
    return drain(reader);
}

static void test_pieces(void)
{
    size_t length = sizeof everything - 1;
    for (size_t piece = 1; piece < 20; piece++) {
        struct pieces pieces = {(const uint8_t *) everything, length, 0, piece, SIZE_MAX};
        struct outcome outcome = read_pieces(&pieces);
        CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
        CU_ASSERT_EQUAL(outcome.records, sizeof starts);
    }
    for (size_t at = 0; at <= length; at++) { /* an error of the input comes after whole records */
        struct pieces pieces = {(const uint8_t *) everything, length, 0, 1, at};
        struct outcome outcome = read_pieces(&pieces);
        CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_IO);
        CU_ASSERT_STRING_EQUAL(outcome.error.message, "broken");
        CU_ASSERT_EQUAL(outcome.records, read_memory(everything, at).records);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

struct growing {
    uint8_t *data;
    size_t length;
    size_t space;
};

static enum step_status grow(void *user, const void *data, size_t length, struct step_error *error)
{
    struct growing *out = user;
    (void) error;
    if (out->length + length > out->space) {
        out->space = 2 * (out->length + length);
        out->data = realloc(out->data, out->space);
        if (out->data == NULL)
            abort();
    }
    memcpy(out->data + out->length, data, length);
    out->length += length;
    return STEP_STATUS_OK;
}

/* Metadata until the record fits: any interpretation, then a width that is wide enough. */
static void make_fit(struct hatf_writer *writer, const struct hatf_record *record, uint64_t *seed)
{
    enum hatf_field misfit;
    while (!hatf_writer_fits(writer, record, &misfit)) {
        static const enum hatf_interpretation kinds[] = {HATF_NONE, HATF_BASE_OFFSET, HATF_DELTA,
                                                         HATF_DEFAULT, HATF_STRIDE};
        unsigned kind = misfit == HATF_ATTRIBUTES ? 0 : (unsigned) (next_random(seed) % 5);
        CU_ASSERT_EQUAL(hatf_writer_set_interpretation(writer, misfit, kinds[kind],
                                                       next_random(seed), next_random(seed), NULL),
                        STEP_STATUS_OK);
        CU_ASSERT_EQUAL(
            hatf_writer_set_width(writer, misfit,
                                  misfit == HATF_ATTRIBUTES ? HATF_WIDTH_V2 : HATF_WIDTH_8, NULL),
            STEP_STATUS_OK);
    }
}

static struct hatf_record random_record(uint64_t *seed, const uint8_t *bytes)
{
    struct hatf_record record = {.tag = (enum hatf_tag)(next_random(seed) % 11)};
    if (record.tag == HATF_COMMENT) {
        record.comment = (struct step_bytes){bytes, next_random(seed) % 65536};
        return record;
    }
    uint64_t *const numbers[] = {&record.size, &record.address, &record.time, &record.thread,
                                 &record.heap};
    for (unsigned i = 0; i < 5; i++)
        *numbers[i] = hatf_tag_has(record.tag, (enum hatf_field) i)
                          ? next_random(seed) >> next_random(seed) % 64
                          : 0;
    if (record.tag >= HATF_REALLOC_NO_ALLOC && record.tag <= HATF_REALLOC_FREE)
        record.new_address = next_random(seed) >> next_random(seed) % 64;
    if (next_random(seed) % 64 == 0)
        record.attributes = (struct step_bytes){bytes, next_random(seed) % 65536};
    return record;
}

static bool same_bytes(struct step_bytes a, struct step_bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static bool same_record(const struct hatf_record *a, const struct hatf_record *b)
{
    return a->tag == b->tag && a->size == b->size && a->address == b->address &&
           a->new_address == b->new_address && a->thread == b->thread && a->heap == b->heap &&
           a->time == b->time && same_bytes(a->attributes, b->attributes) &&
           same_bytes(a->comment, b->comment);
}

/* Past the reader's buffer several times. */
static void test_random(void)
{
    enum { COUNT = 2000, SEED = 40000003 };
    static uint8_t bytes[65536];
    struct growing out = {NULL, 0, 0};
    const struct step_output output = {&out, grow};
    struct hatf_writer *writer = NULL;
    uint64_t seed = SEED;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t) next_random(&seed);
    CU_ASSERT_EQUAL_FATAL(hatf_writer_create(&output, &writer, NULL), STEP_STATUS_OK);
    struct hatf_record *records = calloc(COUNT, sizeof *records);
    for (size_t i = 0; i < COUNT; i++) {
        records[i] = random_record(&seed, bytes);
        make_fit(writer, &records[i], &seed);
        CU_ASSERT_EQUAL(hatf_writer_put(writer, &records[i], NULL, NULL), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(hatf_writer_close(writer, NULL), STEP_STATUS_OK);
    hatf_writer_destroy(writer);

    static const size_t sizes[] = {SIZE_MAX, 7, 4096, 70001};
    for (size_t i = 0; i < 4; i++) {
        struct pieces pieces = {out.data, out.length, 0, sizes[i], SIZE_MAX};
        const struct hatf_input input = {&pieces, read_piece};
        struct hatf_reader *reader = NULL;
        struct hatf_record record;
        CU_ASSERT_EQUAL_FATAL(hatf_reader_create(&input, "random", &reader, NULL), STEP_STATUS_OK);
        size_t at = 0;
        while (hatf_reader_next(reader, &record, NULL) == STEP_STATUS_OK) {
            if (record.tag == HATF_METADATA)
                continue;
            CU_ASSERT_TRUE_FATAL(at < COUNT && same_record(&record, &records[at]));
            at++;
        }
        CU_ASSERT_EQUAL(at, COUNT);
        CU_ASSERT_EQUAL(hatf_reader_offset(reader), out.length);
        hatf_reader_destroy(reader);
    }
    free(records);
    free(out.data);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("hatf reader", NULL, NULL);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "field states", test_field_states);
    CU_add_test(suite, "cut", test_cut);
    CU_add_test(suite, "changed bytes", test_changed_bytes);
    CU_add_test(suite, "pieces", test_pieces);
    CU_add_test(suite, "random records", test_random);
}
