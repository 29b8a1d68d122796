/* SPDX-License-Identifier: Apache-2.0 */
/* HATF: the bytes of every record, every width and interpretation both ways, what fits. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf.h"
#include "tests/unit/run_suite.h"

static uint8_t written[1 << 20];
static size_t written_length;

static enum step_status write_memory(void *user, const void *data, size_t length,
                                     struct step_error *error)
{
    (void) user;
    if (written_length + length > sizeof written)
        return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "no room");
    memcpy(written + written_length, data, length);
    written_length += length;
    return STEP_STATUS_OK;
}

static struct hatf_writer *start(void)
{
    const struct step_output output = {NULL, write_memory};
    struct hatf_writer *writer = NULL;
    written_length = 0;
    CU_ASSERT_EQUAL_FATAL(hatf_writer_create(&output, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

static void stop(struct hatf_writer *writer)
{
    uint64_t size = hatf_writer_size(writer);
    CU_ASSERT_EQUAL(hatf_writer_close(writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(written_length, size);
    hatf_writer_destroy(writer);
}

static void put(struct hatf_writer *writer, struct hatf_record record)
{
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(hatf_writer_put(writer, &record, NULL, &error), STEP_STATUS_OK);
    if (error.message[0] != '\0')
        printf("%s\n", error.message);
}

static void width(struct hatf_writer *writer, enum hatf_field field, enum hatf_width code)
{
    CU_ASSERT_EQUAL(hatf_writer_set_width(writer, field, code, NULL), STEP_STATUS_OK);
}

static void interpret(struct hatf_writer *writer, enum hatf_field field,
                      enum hatf_interpretation interpretation, uint64_t value, uint64_t stride)
{
    CU_ASSERT_EQUAL(
        hatf_writer_set_interpretation(writer, field, interpretation, value, stride, NULL),
        STEP_STATUS_OK);
}

static void check_written(const char *wanted, size_t length)
{
    CU_ASSERT_EQUAL(written_length, length);
    CU_ASSERT_EQUAL(memcmp(written, wanted, length), 0);
}
#define CHECK_WRITTEN(wanted) check_written(wanted, sizeof wanted - 1)

/* Reads what was written, compares it with `records`, and puts it into a second writer, which must
 * give the same bytes. */
static void check_read(const struct hatf_record *records, size_t count)
{
    struct hatf_reader *reader = NULL;
    struct hatf_record record;
    uint8_t *copy = malloc(written_length + 1);
    size_t length = written_length;
    memcpy(copy, written, length);
    CU_ASSERT_EQUAL_FATAL(hatf_reader_create_memory(copy, length, "memory", &reader, NULL),
                          STEP_STATUS_OK);
    struct hatf_writer *writer = start();
    size_t i = 0;
    while (hatf_reader_next(reader, &record, NULL) == STEP_STATUS_OK) {
        put(writer, record);
        if (record.tag == HATF_METADATA || records == NULL)
            continue;
        CU_ASSERT_TRUE_FATAL(i < count);
        CU_ASSERT_EQUAL(record.tag, records[i].tag);
        CU_ASSERT_EQUAL(record.size, records[i].size);
        CU_ASSERT_EQUAL(record.address, records[i].address);
        CU_ASSERT_EQUAL(record.new_address, records[i].new_address);
        CU_ASSERT_EQUAL(record.thread, records[i].thread);
        CU_ASSERT_EQUAL(record.heap, records[i].heap);
        CU_ASSERT_EQUAL(record.time, records[i].time);
        CU_ASSERT_EQUAL_FATAL(record.attributes.length, records[i].attributes.length);
        CU_ASSERT_EQUAL_FATAL(record.comment.length, records[i].comment.length);
        i++;
    }
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, NULL), STEP_STATUS_END);
    CU_ASSERT_EQUAL(hatf_reader_offset(reader), length);
    CU_ASSERT_EQUAL(hatf_reader_record_number(reader), hatf_writer_record_count(writer));
    if (records != NULL)
        CU_ASSERT_EQUAL(i, count);
    hatf_reader_destroy(reader);
    stop(writer);
    check_written((const char *) copy, length);
    free(copy);
}

static void test_start_state(void)
{
    const struct hatf_record records[] = {
        {.tag = HATF_ALLOC, .size = 0x10, .address = 0x01020304},
        {.tag = HATF_FREE, .address = 0xfffefdfc},
        {.tag = HATF_REALLOC_NO_ALLOC, .size = 1, .address = 2, .new_address = 3},
        {.tag = HATF_REALLOC_ALLOC_FREE, .size = 1, .address = 2, .new_address = 3},
        {.tag = HATF_REALLOC_ALLOC, .size = 1, .address = 2, .new_address = 3},
        {.tag = HATF_REALLOC_FREE, .size = 1, .address = 2, .new_address = 3},
        {.tag = HATF_CREATE_HEAP},
        {.tag = HATF_DESTROY_HEAP},
        {.tag = HATF_CREATE_THREAD},
        {.tag = HATF_DESTROY_THREAD},
        {.tag = HATF_COMMENT, .comment = {(const uint8_t *) "HATF 1.0", 8}},
        {.tag = HATF_COMMENT},
    };
    struct hatf_writer *writer = start();
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        put(writer, records[i]);
    stop(writer);
    CHECK_WRITTEN("\0\0\0\0\x10\1\2\3\4"
                  "\1\xff\xfe\xfd\xfc"
                  "\2\0\0\0\1\0\0\0\2\0\0\0\3"
                  "\3\0\0\0\1\0\0\0\2\0\0\0\3"
                  "\4\0\0\0\1\0\0\0\2\0\0\0\3"
                  "\5\0\0\0\1\0\0\0\2\0\0\0\3"
                  "\6\7\x8\x9"
                  "\xa\0\x8HATF 1.0"
                  "\xa\0\0");
    check_read(records, sizeof records / sizeof records[0]);
}

/* Every field present, in the order that each record has. */
static void test_field_order(void)
{
    struct hatf_record records[10];
    struct hatf_writer *writer = start();
    static const enum hatf_field fields[] = {HATF_SIZE,   HATF_ADDRESS, HATF_TIME,
                                             HATF_THREAD, HATF_HEAP,    HATF_ATTRIBUTES};
    for (size_t i = 0; i < 6; i++) {
        interpret(writer, fields[i], HATF_NONE, 0, 0);
        width(writer, fields[i], fields[i] == HATF_ATTRIBUTES ? HATF_WIDTH_V1 : HATF_WIDTH_1);
    }
    size_t metadata = (size_t) hatf_writer_size(writer);
    CU_ASSERT_EQUAL(metadata, 48);
    for (unsigned tag = 0; tag < 10; tag++) {
        bool has[HATF_FIELD_COUNT];
        for (unsigned i = 0; i < 6; i++)
            has[i] = hatf_tag_has((enum hatf_tag) tag, (enum hatf_field) i);
        records[tag] = (struct hatf_record){.tag = (enum hatf_tag) tag,
                                            .size = has[HATF_SIZE] ? 0x51 : 0,
                                            .address = has[HATF_ADDRESS] ? 0xa1 : 0,
                                            .new_address = tag >= 2 && tag <= 5 ? 0xa2 : 0,
                                            .thread = 0x71,
                                            .heap = has[HATF_HEAP] ? 0x81 : 0,
                                            .time = 0x91,
                                            .attributes = {(const uint8_t *) "xy", 2}};
        put(writer, records[tag]);
    }
    stop(writer);
    static const char wanted[] = "\0\x51\xa1\x71\x81\x91\2xy"
                                 "\1\xa1\x71\x81\x91\2xy"
                                 "\2\x51\xa1\xa2\x71\x81\x91\2xy"
                                 "\3\x51\xa1\xa2\x71\x81\x91\2xy"
                                 "\4\x51\xa1\xa2\x71\x81\x91\2xy"
                                 "\5\x51\xa1\xa2\x71\x81\x91\2xy"
                                 "\6\x81\x71\x91\2xy"
                                 "\7\x81\x71\x91\2xy"
                                 "\x8\x71\x91\2xy"
                                 "\x9\x71\x91\2xy";
    CU_ASSERT_EQUAL(written_length - metadata, sizeof wanted - 1);
    CU_ASSERT_EQUAL(memcmp(written + metadata, wanted, sizeof wanted - 1), 0);
    check_read(records, 10);
}

static void test_metadata_bytes(void)
{
    struct hatf_writer *writer = start();
    width(writer, HATF_SIZE, HATF_WIDTH_2);
    width(writer, HATF_ATTRIBUTES, HATF_WIDTH_V2);
    interpret(writer, HATF_TIME, HATF_NONE, 0, 0);
    interpret(writer, HATF_THREAD, HATF_DEFAULT, 5, 0);
    interpret(writer, HATF_HEAP, HATF_BASE_OFFSET, 0x0102030405060708, 0);
    interpret(writer, HATF_ADDRESS, HATF_DELTA, UINT64_MAX, 0);
    interpret(writer, HATF_SIZE, HATF_STRIDE, 1, (uint64_t) -8);
    stop(writer);
    CHECK_WRITTEN("\xb\1\0\2"
                  "\xb\1\5\xa"
                  "\xb\2\2\0"
                  "\xb\2\3\1\0\0\0\0\0\0\0\5"
                  "\xb\2\4\2\1\2\3\4\5\6\7\x8"
                  "\xb\2\1\3\xff\xff\xff\xff\xff\xff\xff\xff"
                  "\xb\2\0\4\0\0\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xf8");
    check_read(NULL, 0);
}

/* A number field (here time) under an interpretation and a width: values at the limits go through,
 * those beyond them do not fit. */
static void test_limits(void)
{
    static const enum hatf_width widths[] = {HATF_WIDTH_0, HATF_WIDTH_1, HATF_WIDTH_2, HATF_WIDTH_4,
                                             HATF_WIDTH_8};
    static const enum hatf_interpretation kinds[] = {HATF_NONE, HATF_BASE_OFFSET, HATF_DELTA};
    for (size_t i = 0; i < 15; i++) {
        enum hatf_interpretation kind = kinds[i % 3];
        unsigned bits = 8 * (unsigned) widths[i / 3];
        uint64_t base = kind == HATF_NONE ? 0 : UINT64_MAX - 99; /* sums wrap */
        uint64_t half = bits == 0 ? 0 : (uint64_t) 1 << (bits - 1);
        uint64_t low = kind == HATF_NONE ? 0 : 0 - half;
        uint64_t high = kind == HATF_NONE ? 2 * half - 1 : half - 1;
        if (bits == 0)
            high = 0;
        const uint64_t inside[] = {low, high, 0};
        for (size_t value = 0; value < 3; value++) {
            struct hatf_writer *writer = start();
            interpret(writer, HATF_TIME, kind, base, 0);
            width(writer, HATF_TIME, widths[i / 3]);
            struct hatf_record record = {.tag = HATF_CREATE_THREAD, .time = base + inside[value]};
            put(writer, record);
            CU_ASSERT_EQUAL(hatf_writer_field(writer, HATF_TIME)->previous, record.time);
            stop(writer);
            check_read(&record, 1);
        }
        if (bits == 64)
            continue;
        const uint64_t outside[] = {low - 1, high + 1};
        for (size_t value = 0; value < 2; value++) {
            struct hatf_writer *writer = start();
            interpret(writer, HATF_TIME, kind, base, 0);
            width(writer, HATF_TIME, widths[i / 3]);
            uint64_t size = hatf_writer_size(writer);
            struct hatf_record record = {.tag = HATF_CREATE_THREAD, .time = base + outside[value]};
            enum hatf_field misfit = HATF_SIZE;
            CU_ASSERT_FALSE(hatf_writer_fits(writer, &record, &misfit));
            CU_ASSERT_EQUAL(misfit, HATF_TIME);
            misfit = HATF_SIZE;
            struct step_error error;
            CU_ASSERT_EQUAL(hatf_writer_put(writer, &record, &misfit, &error), STEP_STATUS_LIMIT);
            CU_ASSERT_EQUAL(misfit, HATF_TIME);
            CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "time"));
            CU_ASSERT_EQUAL(hatf_writer_size(writer), size);
            stop(writer);
        }
    }
}

static void test_default_and_stride(void)
{
    struct hatf_record records[] = {
        {.tag = HATF_ALLOC, .size = 24, .address = 100, .thread = 7},
        {.tag = HATF_ALLOC, .size = 24, .address = 116, .thread = 7},
        {.tag = HATF_FREE, .address = 132, .thread = 7},
        {.tag = HATF_REALLOC_ALLOC, .size = 24, .address = 148, .new_address = 164, .thread = 7},
    };
    struct hatf_writer *writer = start();
    interpret(writer, HATF_SIZE, HATF_DEFAULT, 24, 0);
    interpret(writer, HATF_THREAD, HATF_DEFAULT, 7, 0);
    interpret(writer, HATF_ADDRESS, HATF_STRIDE, 84, 16);
    uint64_t size = hatf_writer_size(writer);
    for (size_t i = 0; i < 4; i++)
        put(writer, records[i]);
    CU_ASSERT_EQUAL(hatf_writer_size(writer), size + 4);
    struct hatf_record other = {.tag = HATF_FREE, .address = 181, .thread = 7};
    enum hatf_field misfit = HATF_SIZE;
    CU_ASSERT_FALSE(hatf_writer_fits(writer, &other, &misfit));
    CU_ASSERT_EQUAL(misfit, HATF_ADDRESS);
    other.address = 180;
    CU_ASSERT_TRUE(hatf_writer_fits(writer, &other, NULL));
    other.thread = 8;
    CU_ASSERT_FALSE(hatf_writer_fits(writer, &other, &misfit));
    CU_ASSERT_EQUAL(misfit, HATF_THREAD);
    stop(writer);
    check_read(records, 4);
}

/* After "stride 0 100" the first value is 100; a negative stride goes down. */
static void test_stride_of_the_paper(void)
{
    const struct hatf_record records[] = {
        {.tag = HATF_FREE, .address = 100},
        {.tag = HATF_FREE, .address = 200},
        {.tag = HATF_FREE, .address = 4},
        {.tag = HATF_FREE, .address = (uint64_t) -4},
    };
    struct hatf_writer *writer = start();
    interpret(writer, HATF_ADDRESS, HATF_STRIDE, 0, 100);
    put(writer, records[0]);
    put(writer, records[1]);
    interpret(writer, HATF_ADDRESS, HATF_STRIDE, 12, (uint64_t) -8);
    put(writer, records[2]);
    put(writer, records[3]);
    stop(writer);
    check_read(records, 4);
}

/* The previous value is that of any record that has the field, under any interpretation; a realloc
 * updates it twice. */
static void test_previous(void)
{
    const struct hatf_record records[] = {
        {.tag = HATF_ALLOC, .size = 1, .address = 1000},
        {.tag = HATF_REALLOC_ALLOC_FREE, .size = 2, .address = 1010, .new_address = 1005},
        {.tag = HATF_FREE, .address = 1100},
        {.tag = HATF_CREATE_HEAP},
        {.tag = HATF_FREE, .address = 1000},
    };
    struct hatf_writer *writer = start();
    width(writer, HATF_ADDRESS, HATF_WIDTH_1);
    interpret(writer, HATF_ADDRESS, HATF_DELTA, 990, 0);
    size_t metadata = (size_t) hatf_writer_size(writer);
    for (size_t i = 0; i < 5; i++)
        put(writer, records[i]);
    struct hatf_record far_away = {
        .tag = HATF_REALLOC_ALLOC_FREE, .size = 2, .address = 1100, .new_address = 1228};
    struct step_error error;
    CU_ASSERT_EQUAL(hatf_writer_put(writer, &far_away, NULL, &error), STEP_STATUS_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "new address 1228"));
    stop(writer);
    CU_ASSERT_EQUAL(memcmp(written + metadata, "\0\0\0\0\1\xa\3\0\0\0\2\xa\xfb\1\x5f\6\1\x9c", 18),
                    0);
    check_read(records, 5);
    /* the value of a record before the metadata does not count */
    writer = start();
    put(writer, records[0]);
    interpret(writer, HATF_ADDRESS, HATF_DELTA, 1001, 0);
    put(writer, records[0]);
    CU_ASSERT_EQUAL(hatf_writer_field(writer, HATF_ADDRESS)->previous, 1000);
    stop(writer);
    CU_ASSERT_EQUAL(memcmp(written + written_length - 4, "\xff\xff\xff\xff", 4), 0);
}

static void check_width(const struct hatf_writer *writer, enum hatf_field field, unsigned wanted)
{
    CU_ASSERT_EQUAL(hatf_writer_field(writer, field)->width, wanted);
}

static void test_widths_restored(void)
{
    struct hatf_writer *writer = start();
    interpret(writer, HATF_SIZE, HATF_DEFAULT, 1, 0);
    check_width(writer, HATF_SIZE, 0);
    interpret(writer, HATF_SIZE, HATF_NONE, 0, 0);
    check_width(writer, HATF_SIZE, 4);
    width(writer, HATF_SIZE, HATF_WIDTH_0);
    check_width(writer, HATF_SIZE, 0);
    interpret(writer, HATF_SIZE, HATF_DELTA, 0, 0);
    check_width(writer, HATF_SIZE, 4);
    interpret(writer, HATF_SIZE, HATF_STRIDE, 0, 0);
    width(writer, HATF_SIZE, HATF_WIDTH_2);
    check_width(writer, HATF_SIZE, 0);
    interpret(writer, HATF_SIZE, HATF_DEFAULT, 0, 0);
    check_width(writer, HATF_SIZE, 0);
    interpret(writer, HATF_SIZE, HATF_BASE_OFFSET, 0, 0);
    check_width(writer, HATF_SIZE, 2);
    interpret(writer, HATF_TIME, HATF_NONE, 0, 0); /* never had a width */
    check_width(writer, HATF_TIME, 0);
    interpret(writer, HATF_ATTRIBUTES, HATF_NONE, 0, 0);
    check_width(writer, HATF_ATTRIBUTES, 0);
    width(writer, HATF_ATTRIBUTES, HATF_WIDTH_V1);
    interpret(writer, HATF_ATTRIBUTES, HATF_DEFAULT, 77, 0);
    check_width(writer, HATF_ATTRIBUTES, 0);
    interpret(writer, HATF_ATTRIBUTES, HATF_NONE, 0, 0);
    check_width(writer, HATF_ATTRIBUTES, HATF_WIDTH_V1);
    stop(writer);
    check_read(NULL, 0);
}

static void test_attributes(void)
{
    static uint8_t data[70000];
    static const struct {
        enum hatf_width width;
        size_t fits[2];
        size_t misfits[2];
    } rows[] = {
        {HATF_WIDTH_0, {0, 0}, {1, 70000}},
        {HATF_WIDTH_1, {1, 1}, {0, 2}},
        {HATF_WIDTH_2, {2, 2}, {1, 3}},
        {HATF_WIDTH_4, {4, 4}, {3, 5}},
        {HATF_WIDTH_8, {8, 8}, {7, 9}},
        {HATF_WIDTH_V1, {0, 255}, {256, 70000}},
        {HATF_WIDTH_V2, {0, 65535}, {65536, 70000}},
    };
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t) (i * 7);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hatf_record records[2] = {{.tag = HATF_DESTROY_THREAD}, {.tag = HATF_FREE}};
        struct hatf_writer *writer = start();
        interpret(writer, HATF_ATTRIBUTES, HATF_NONE, 0, 0);
        width(writer, HATF_ATTRIBUTES, rows[i].width);
        for (size_t j = 0; j < 2; j++) {
            records[j].attributes = (struct step_bytes){data, rows[i].fits[j]};
            put(writer, records[j]);
            struct hatf_record other = {.tag = HATF_ALLOC};
            other.attributes = (struct step_bytes){data, rows[i].misfits[j]};
            enum hatf_field misfit = HATF_SIZE;
            CU_ASSERT_EQUAL(hatf_writer_put(writer, &other, &misfit, NULL), STEP_STATUS_LIMIT);
            CU_ASSERT_EQUAL(misfit, HATF_ATTRIBUTES);
        }
        stop(writer);
        if (rows[i].fits[1] > 0)
            CU_ASSERT_EQUAL(
                memcmp(written + written_length - rows[i].fits[1], data, rows[i].fits[1]), 0);
        check_read(records, 2);
    }
}

static void test_comments(void)
{
    static char text[65536];
    struct hatf_writer *writer = start();
    memset(text, 'c', sizeof text);
    CU_ASSERT_EQUAL(hatf_writer_comment(writer, text, 65535, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(hatf_writer_comment(writer, text, 65536, NULL), STEP_STATUS_LIMIT);
    struct hatf_record record = {.tag = HATF_COMMENT, .comment = {(uint8_t *) text, 65536}};
    CU_ASSERT_FALSE(hatf_writer_fits(writer, &record, NULL));
    stop(writer);
    CU_ASSERT_EQUAL(written_length, 65538);
    record.comment.length = 65535;
    check_read(&record, 1);
}

static void test_writer_refuses(void)
{
    struct hatf_writer *writer = start();
    const struct hatf_record bad = {.tag = (enum hatf_tag) 12};
    CU_ASSERT_EQUAL(hatf_writer_put(writer, &bad, NULL, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_FALSE(hatf_writer_fits(writer, &bad, NULL));
    const struct {
        unsigned field;
        unsigned width;
    } widths[] = {{0, 3}, {0, 9}, {4, 10}, {5, 11}, {6, 1}, {256, 1}, {0, 256}};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        CU_ASSERT_EQUAL(hatf_writer_set_width(writer, (enum hatf_field) widths[i].field,
                                              (enum hatf_width) widths[i].width, NULL),
                        STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(
        hatf_writer_set_interpretation(writer, HATF_SIZE, (enum hatf_interpretation) 5, 0, 0, NULL),
        STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(hatf_writer_size(writer), 0);
    CU_ASSERT_PTR_NULL(hatf_writer_field(writer, (enum hatf_field) 6));
    stop(writer);
}

static enum step_status write_nothing(void *user, const void *data, size_t length,
                                      struct step_error *error)
{
    (void) user;
    (void) data;
    (void) length;
    return step_error_set(error, STEP_STATUS_IO, "full", STEP_NO_OFFSET, "no space");
}

static void test_failing_output(void)
{
    const struct step_output output = {NULL, write_nothing};
    struct hatf_writer *writer = NULL;
    struct step_error error;
    CU_ASSERT_EQUAL_FATAL(hatf_writer_create(&output, &writer, NULL), STEP_STATUS_OK);
    const struct hatf_record record = {.tag = HATF_FREE};
    put(writer, record);
    CU_ASSERT_EQUAL(hatf_writer_flush(writer, NULL), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(hatf_writer_put(writer, &record, NULL, NULL), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(hatf_writer_close(writer, &error), STEP_STATUS_IO);
    CU_ASSERT_STRING_EQUAL(error.message, "no space");
    hatf_writer_destroy(writer);
}

static void test_minimal_widths(void)
{
    CU_ASSERT_EQUAL(hatf_width_of_unsigned(0), HATF_WIDTH_0);
    CU_ASSERT_EQUAL(hatf_width_of_unsigned(255), HATF_WIDTH_1);
    CU_ASSERT_EQUAL(hatf_width_of_unsigned(256), HATF_WIDTH_2);
    CU_ASSERT_EQUAL(hatf_width_of_unsigned(65536), HATF_WIDTH_4);
    CU_ASSERT_EQUAL(hatf_width_of_unsigned(UINT32_MAX + (uint64_t) 1), HATF_WIDTH_8);
    CU_ASSERT_EQUAL(hatf_width_of_signed(0), HATF_WIDTH_0);
    CU_ASSERT_EQUAL(hatf_width_of_signed(127), HATF_WIDTH_1);
    CU_ASSERT_EQUAL(hatf_width_of_signed((uint64_t) -128), HATF_WIDTH_1);
    CU_ASSERT_EQUAL(hatf_width_of_signed(128), HATF_WIDTH_2);
    CU_ASSERT_EQUAL(hatf_width_of_signed((uint64_t) -32769), HATF_WIDTH_4);
    CU_ASSERT_EQUAL(hatf_width_of_signed((uint64_t) 1 << 31), HATF_WIDTH_8);
}

static void test_names(void)
{
    CU_ASSERT_STRING_EQUAL(hatf_tag_name(HATF_REALLOC_ALLOC_FREE), "realloc/alloc free");
    CU_ASSERT_STRING_EQUAL(hatf_tag_name(HATF_METADATA), "metadata");
    CU_ASSERT_STRING_EQUAL(hatf_tag_name(HATF_TAG_COUNT), "?");
    CU_ASSERT_STRING_EQUAL(hatf_field_name(HATF_ATTRIBUTES), "attributes");
    CU_ASSERT_STRING_EQUAL(hatf_field_name(HATF_FIELD_COUNT), "?");
    CU_ASSERT_STRING_EQUAL(hatf_interpretation_name(HATF_STRIDE), "stride");
    CU_ASSERT_STRING_EQUAL(hatf_interpretation_name(HATF_INTERPRETATION_COUNT), "?");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("hatf records", NULL, NULL);
    CU_add_test(suite, "start state", test_start_state);
    CU_add_test(suite, "field order", test_field_order);
    CU_add_test(suite, "metadata bytes", test_metadata_bytes);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "default and stride", test_default_and_stride);
    CU_add_test(suite, "the paper's stride", test_stride_of_the_paper);
    CU_add_test(suite, "previous values", test_previous);
    CU_add_test(suite, "widths restored", test_widths_restored);
    CU_add_test(suite, "attributes", test_attributes);
    CU_add_test(suite, "comments", test_comments);
    CU_add_test(suite, "refused", test_writer_refuses);
    CU_add_test(suite, "failing output", test_failing_output);
    CU_add_test(suite, "minimal widths", test_minimal_widths);
    CU_add_test(suite, "names", test_names);
}
