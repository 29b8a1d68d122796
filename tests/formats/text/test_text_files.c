/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the zipped text format: round trips, other people's tools, damage at every byte. */
#include <CUnit/Basic.h>
#include <minizip/zip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "steptrace/text.h"
#include "tests/unit/run_suite.h"

static char directory[] = "/tmp/steptrace-text-XXXXXX";
static char path[128];

static const char sample[] = "VS:0\nVI:5\nCL:5:java/lang/Object\nTB:5:1\nOA:6:java/lang/Object:1\n"
                             "MN:7:1:a/B:<init>:1\nMX:8:1:a/B:<init>\nOF:9:java/lang/Object:1\n"
                             "CL:9:a\\u003ab\nVD:10\n";

struct file {
    uint8_t *data;
    size_t length;
};

static struct file load(const char *name)
{
    struct file file = {NULL, 0};
    struct stat about;
    FILE *in = fopen(name, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    CU_ASSERT_EQUAL_FATAL(fstat(fileno(in), &about), 0);
    file.length = (size_t) about.st_size;
    file.data = malloc(file.length + 1);
    CU_ASSERT_EQUAL_FATAL(fread(file.data, 1, file.length, in), file.length);
    fclose(in);
    return file;
}

static void save(const void *data, size_t length)
{
    FILE *out = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(fwrite(data, 1, length, out), length);
    fclose(out);
}

static void write_sample(const char *text, size_t length)
{
    struct step_text_writer *writer = NULL;
    struct step_error error;
    CU_ASSERT_EQUAL_FATAL(step_text_writer_create(path, &writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_text_writer_put_line(writer, text, length), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_text_writer_close(writer, &error), STEP_STATUS_OK);
    step_text_writer_destroy(writer);
}

/* What reading a whole file came to. */
struct outcome {
    enum step_status status;
    uint64_t lines;
    size_t text_length; /* of the lines, formatted again */
    char text[4096];
    struct step_error error;
};

static void drain(struct step_text_reader *reader, struct outcome *outcome)
{
    struct step_text_event event;
    char line[2048];
    while ((outcome->status = step_text_reader_next(reader, &event, &outcome->error)) ==
           STEP_STATUS_OK) {
        outcome->lines++;
        size_t length = event.class_name.length < 256 ? step_text_format(&event, line) : 0;
        if (outcome->text_length + length <= sizeof outcome->text)
            memcpy(outcome->text + outcome->text_length, line, length);
        outcome->text_length += length;
    }
    CU_ASSERT_EQUAL(step_text_reader_line(reader), outcome->lines);
    struct step_error again;
    CU_ASSERT_EQUAL(step_text_reader_next(reader, &event, &again), outcome->status);
    step_text_reader_destroy(reader);
}

static void read_file(struct outcome *outcome)
{
    struct step_text_reader *reader = NULL;
    memset(outcome, 0, sizeof *outcome);
    outcome->status = step_text_reader_open(path, &reader, &outcome->error);
    if (outcome->status == STEP_STATUS_OK)
        drain(reader, outcome);
}

static void read_memory(const void *data, size_t length, struct outcome *outcome)
{
    struct step_text_reader *reader = NULL;
    memset(outcome, 0, sizeof *outcome);
    outcome->status =
        step_text_reader_open_memory(data, length, "memory", &reader, &outcome->error);
    if (outcome->status == STEP_STATUS_OK)
        drain(reader, outcome);
}

static void read_plain(const void *data, size_t length, struct outcome *outcome)
{
    struct step_text_reader *reader = NULL;
    memset(outcome, 0, sizeof *outcome);
    CU_ASSERT_EQUAL_FATAL(
        step_text_reader_open_plain(data, length, "plain", &reader, &outcome->error),
        STEP_STATUS_OK);
    drain(reader, outcome);
}

static void test_round_trip(void)
{
    static struct outcome outcome;
    write_sample(sample, strlen(sample));
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_EQUAL(outcome.lines, 10);
    CU_ASSERT_EQUAL(outcome.text_length, strlen(sample));
    CU_ASSERT_EQUAL(memcmp(outcome.text, sample, strlen(sample)), 0);
    write_sample("", 0);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_EQUAL(outcome.lines, 0);
}

static void test_put_event(void)
{
    static struct outcome outcome;
    struct step_text_writer *writer = NULL;
    struct step_text_event event = {.kind = STEP_TEXT_CL, .time_ns = 3};
    event.class_name = (struct step_bytes){(const uint8_t *) "a:b", 3};
    CU_ASSERT_EQUAL_FATAL(step_text_writer_create(path, &writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_text_writer_put(writer, &event), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_text_writer_close(writer, NULL), STEP_STATUS_OK);
    step_text_writer_destroy(writer);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_STRING_EQUAL(outcome.text, "CL:3:a\\u003ab\n");
    CU_ASSERT_EQUAL_FATAL(step_text_writer_create(path, &writer, NULL), STEP_STATUS_OK);
    event.class_name.length = 0;
    CU_ASSERT_EQUAL(step_text_writer_put(writer, &event), STEP_STATUS_INVALID);
    struct step_error error;
    CU_ASSERT_EQUAL(step_text_writer_close(writer, &error), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_INVALID);
    step_text_writer_destroy(writer);
}

/* Lines past every buffer, and pieces larger than the writer's own. */
static void check_remark(const char *remark, const char *wanted)
{
    struct step_text_writer *writer = NULL;
    struct step_text_reader *reader = NULL;
    struct step_text_event event;
    CU_ASSERT_EQUAL_FATAL(step_text_writer_create(path, &writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_text_writer_put_line(writer, "VS:1\n", 5), STEP_STATUS_OK);
    step_text_writer_set_remark(writer, remark);
    CU_ASSERT_EQUAL(step_text_writer_close(writer, NULL), STEP_STATUS_OK);
    step_text_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_text_reader_open(path, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(step_text_reader_remark(reader), wanted);
    CU_ASSERT_EQUAL(step_text_reader_next(reader, &event, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_text_reader_next(reader, &event, NULL), STEP_STATUS_END);
    step_text_reader_destroy(reader);
}

static void test_remark(void)
{
    char longest[301];
    memset(longest, 'x', sizeof longest - 1);
    longest[300] = '\0';
    check_remark("", "");
    check_remark("a remark", "a remark");
    check_remark(longest, longest + 45);
}

static void test_many_lines(void)
{
    static struct outcome outcome;
    struct step_text_writer *writer = NULL;
    CU_ASSERT_EQUAL_FATAL(step_text_writer_create(path, &writer, NULL), STEP_STATUS_OK);
    char line[128];
    for (unsigned i = 0; i < 200000; i++) {
        int length = snprintf(line, sizeof line, "OA:%u:some/Class:%u\n", i * 7919u, i);
        step_text_writer_put_line(writer, line, (size_t) length);
    }
    size_t large = 3 << 20;
    char *lines = malloc(large);
    for (size_t i = 0; i < large; i += 8)
        memcpy(lines + i, "VS:1234\n", 8);
    CU_ASSERT_EQUAL(step_text_writer_put_line(writer, lines, large), STEP_STATUS_OK);
    free(lines);
    CU_ASSERT_EQUAL(step_text_writer_close(writer, NULL), STEP_STATUS_OK);
    step_text_writer_destroy(writer);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_EQUAL(outcome.lines, 200000 + large / 8);
}

static unsigned little_16(const uint8_t *at)
{
    return (unsigned) at[0] | (unsigned) at[1] << 8;
}

static void test_zip_layout(void)
{
    write_sample(sample, strlen(sample));
    struct file file = load(path);
    CU_ASSERT_EQUAL(memcmp(file.data, "PK\3\4", 4), 0);
    CU_ASSERT_EQUAL(little_16(file.data + 4), 45); /* version needed: ZIP64 */
    CU_ASSERT_EQUAL(little_16(file.data + 8), 8);  /* deflate */
    CU_ASSERT_EQUAL(memcmp(file.data + 18, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 0);
    CU_ASSERT_EQUAL(little_16(file.data + 26), 5);
    CU_ASSERT_EQUAL(memcmp(file.data + 30, "trace", 5), 0);
    CU_ASSERT_EQUAL(little_16(file.data + 28), 20);
    CU_ASSERT_EQUAL(little_16(file.data + 35), 1); /* the ZIP64 extra field */
    CU_ASSERT_EQUAL(little_16(file.data + 37), 16);
    CU_ASSERT_EQUAL(little_16(file.data + 39), strlen(sample));
    write_sample(sample, strlen(sample));
    struct file again = load(path);
    CU_ASSERT_EQUAL_FATAL(again.length, file.length);
    CU_ASSERT_EQUAL(memcmp(again.data, file.data, file.length), 0);
    free(file.data);
    free(again.data);
}

static void put_little(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t) (value >> (8 * i));
}

/* A directory that gives the sizes in its ZIP64 field, as that of an entry past 4 GiB does. */
static void test_zip64_directory(void)
{
    enum { DIRECTORY_BYTES = 46 + 5, END_BYTES = 22, FIELD_BYTES = 20 };
    static struct outcome outcome;
    write_sample(sample, strlen(sample));
    struct file file = load(path);
    size_t directory_at = file.length - END_BYTES - DIRECTORY_BYTES;
    uint8_t *wide = calloc(1, file.length + FIELD_BYTES);
    uint8_t *entry = wide + directory_at;
    memcpy(wide, file.data, file.length - END_BYTES);
    memcpy(entry + DIRECTORY_BYTES + FIELD_BYTES, file.data + file.length - END_BYTES, END_BYTES);
    put_little(entry + DIRECTORY_BYTES, 1, 2);
    put_little(entry + DIRECTORY_BYTES + 2, 16, 2);
    memcpy(entry + DIRECTORY_BYTES + 4, entry + 24, 4);
    memcpy(entry + DIRECTORY_BYTES + 12, entry + 20, 4);
    memset(entry + 20, 0xff, 8);
    put_little(entry + 30, FIELD_BYTES, 2);
    put_little(entry + DIRECTORY_BYTES + FIELD_BYTES + 12, DIRECTORY_BYTES + FIELD_BYTES, 4);
    read_memory(wide, file.length + FIELD_BYTES, &outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_EQUAL(outcome.lines, 10);
    save(wide, file.length + FIELD_BYTES);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_END);
    CU_ASSERT_EQUAL(outcome.lines, 10);
    /* a wrong size is found at the end, whichever way it is wrong */
    entry[DIRECTORY_BYTES + 4]++;
    read_memory(wide, file.length + FIELD_BYTES, &outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_CORRUPT);
    entry[DIRECTORY_BYTES + 4] = (uint8_t) (entry[DIRECTORY_BYTES + 4] - 2);
    read_memory(wide, file.length + FIELD_BYTES, &outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_CORRUPT);
    free(wide);
    free(file.data);
}

/* What a command prints; -1 where the tool is not there. */
static int output_of(const char *command, char *out, size_t space)
{
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return -1;
    size_t length = fread(out, 1, space - 1, pipe);
    out[length] = '\0';
    return pclose(pipe);
}

static void test_other_tools(void)
{
    static const struct {
        const char *probe;
        const char *command; /* %s: the path */
    } tools[] = {
        {"command -v unzip", "unzip -p %s trace"},
        {"command -v python3",
         "python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is "
         "None; assert z.namelist() == [\"trace\"]; sys.stdout.write(z.read(\"trace\").decode())' "
         "%s"},
    };
    write_sample(sample, strlen(sample));
    for (size_t i = 0; i < 2; i++) {
        char command[512];
        char out[4096];
        if (output_of(tools[i].probe, out, sizeof out) != 0) {
            printf("skipped: %s\n", tools[i].probe);
            continue;
        }
        snprintf(command, sizeof command, tools[i].command, path);
        CU_ASSERT_EQUAL(output_of(command, out, sizeof out), 0);
        CU_ASSERT_STRING_EQUAL(out, sample);
    }
}

static void check_bad(const char *text, enum step_status status, uint64_t lines, uint64_t offset,
                      const char *message)
{
    static struct outcome outcome;
    for (unsigned zipped = 0; zipped < 2; zipped++) {
        if (zipped)
            write_sample(text, strlen(text));
        if (zipped)
            read_file(&outcome);
        else
            read_plain(text, strlen(text), &outcome);
        CU_ASSERT_EQUAL(outcome.status, status);
        CU_ASSERT_EQUAL(outcome.error.status, status);
        CU_ASSERT_EQUAL(outcome.lines, lines);
        CU_ASSERT_EQUAL(outcome.error.offset, offset);
        CU_ASSERT_STRING_EQUAL(outcome.error.message, message);
        CU_ASSERT_STRING_EQUAL(outcome.error.file, zipped ? path : "plain");
    }
}

static void test_bad_lines(void)
{
    check_bad("XX:1\n", STEP_STATUS_CORRUPT, 0, 0, "line 1, column 1: unknown event type");
    check_bad("VS:0\nVI:01\nVD:2\n", STEP_STATUS_CORRUPT, 1, 5,
              "line 2, column 4: the number has leading zeros");
    check_bad("VS:0\n\nVD:2\n", STEP_STATUS_CORRUPT, 1, 5, "line 2, column 1: unknown event type");
    check_bad("VS:0\nVI:1\nVD:2", STEP_STATUS_CUT, 2, 10,
              "line 3, column 5: the line feed is missing at the end of the text");
}

static void test_long_lines(void)
{
    static struct outcome outcome;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t length = STEP_TEXT_LINE_MAX + extra;
        char *text = malloc(5 + length);
        memcpy(text, "VS:0\n", 5);
        memset(text + 5, 'a', length);
        memcpy(text + 5, "CL:1:", 5);
        text[5 + length - 1] = '\n';
        write_sample(text, 5 + length);
        read_file(&outcome);
        CU_ASSERT_EQUAL(outcome.lines, extra == 0 ? 2 : 1);
        CU_ASSERT_EQUAL(outcome.status, extra == 0 ? STEP_STATUS_END : STEP_STATUS_CORRUPT);
        if (extra != 0)
            CU_ASSERT_STRING_EQUAL(outcome.error.message, "line 2, column 1: the line is too long");
        free(text);
    }
}

static void put_entry(zipFile zip, const char *name, int method, const char *password)
{
    zip_fileinfo info = {0};
    uLong crc = crc32(0, (const Bytef *) sample, (uInt) strlen(sample));
    CU_ASSERT_EQUAL(zipOpenNewFileInZip3_64(zip, name, &info, NULL, 0, NULL, 0, NULL, method, 6, 0,
                                            -15, 8, 0, password, crc, 0),
                    ZIP_OK);
    CU_ASSERT_EQUAL(zipWriteInFileInZip(zip, sample, (unsigned) strlen(sample)), ZIP_OK);
    CU_ASSERT_EQUAL(zipCloseFileInZip(zip), ZIP_OK);
}

/* ZIP files of others: `trace` beside other entries, stored, missing, encrypted. */
static void test_entries(void)
{
    static const struct {
        const char *names[3];
        int method;
        const char *password;
        enum step_status status;
    } files[] = {
        {{"readme", "trace", "trace2"}, Z_DEFLATED, NULL, STEP_STATUS_END},
        {{"trace", NULL, NULL}, 0, NULL, STEP_STATUS_END},
        {{"Trace", "x/trace", "tracer"}, Z_DEFLATED, NULL, STEP_STATUS_NOT_FOUND},
        {{NULL, NULL, NULL}, Z_DEFLATED, NULL, STEP_STATUS_NOT_FOUND},
        {{"trace", NULL, NULL}, Z_DEFLATED, "secret", STEP_STATUS_UNSUPPORTED},
    };
    static struct outcome outcome;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        zipFile zip = zipOpen64(path, APPEND_STATUS_CREATE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(zip);
        for (size_t entry = 0; entry < 3 && files[i].names[entry] != NULL; entry++)
            put_entry(zip, files[i].names[entry], files[i].method, files[i].password);
        CU_ASSERT_EQUAL(zipClose(zip, NULL), ZIP_OK);
        read_file(&outcome);
        CU_ASSERT_EQUAL(outcome.status, files[i].status);
        CU_ASSERT_EQUAL(outcome.lines, files[i].status == STEP_STATUS_END ? 10 : 0);
        if (outcome.status != files[i].status)
            printf("file %zu: %s %s\n", i, step_status_name(outcome.status), outcome.error.message);
    }
}

static void test_other_files(void)
{
    static struct outcome outcome;
    save("VS:0\n", 5);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_FORMAT);
    save("", 0);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_FORMAT);
    unlink(path);
    read_file(&outcome);
    CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_IO);
    CU_ASSERT_STRING_EQUAL(outcome.error.message, "No such file or directory");
    struct step_text_reader *reader = NULL;
    CU_ASSERT_EQUAL(step_text_reader_open(directory, &reader, NULL), STEP_STATUS_IO);
    struct step_text_writer *writer = NULL;
    CU_ASSERT_EQUAL(step_text_writer_create(directory, &writer, NULL), STEP_STATUS_IO);
    CU_ASSERT_PTR_NULL(writer);
}

static void test_full_disk(void)
{
    struct step_text_writer *writer = NULL;
    struct step_error error = {.status = STEP_STATUS_OK};
    if (access("/dev/full", W_OK) != 0)
        return;
    CU_ASSERT_EQUAL_FATAL(step_text_writer_create("/dev/full", &writer, NULL), STEP_STATUS_OK);
    step_text_writer_put_line(writer, sample, strlen(sample));
    CU_ASSERT_EQUAL(step_text_writer_close(writer, &error), STEP_STATUS_IO);
    CU_ASSERT_STRING_EQUAL(error.message, "No space left on device");
    step_text_writer_destroy(writer);
}

/* Cut anywhere: never a clean end, and what was read is a beginning of the text. */
static void test_cut(void)
{
    static struct outcome outcome;
    write_sample(sample, strlen(sample));
    struct file file = load(path);
    uint64_t most = 0;
    for (size_t length = 0; length < file.length; length++) {
        uint8_t *part = malloc(length > 0 ? length : 1);
        memcpy(part, file.data, length);
        read_memory(part, length, &outcome);
        CU_ASSERT_TRUE(outcome.status != STEP_STATUS_END && outcome.status != STEP_STATUS_OK);
        if (length >= 4)
            CU_ASSERT_EQUAL(outcome.status, STEP_STATUS_CUT);
        CU_ASSERT_EQUAL(memcmp(outcome.text, sample, outcome.text_length), 0);
        most = outcome.lines > most ? outcome.lines : most;
        free(part);
    }
    CU_ASSERT_EQUAL(most, 10);
    free(file.data);
}

/* Every byte changed in several ways.  A ZIP file's checksum covers the text, so that a clean end
 * means that the text is as it was. */
static void test_changed_bytes(void)
{
    static const uint8_t changes[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
    static struct outcome outcome;
    write_sample(sample, strlen(sample));
    struct file file = load(path);
    uint8_t *copy = malloc(file.length);
    for (size_t at = 0; at < file.length; at++) {
        for (size_t i = 0; i < sizeof changes; i++) {
            memcpy(copy, file.data, file.length);
            copy[at] ^= changes[i];
            read_memory(copy, file.length, &outcome);
            CU_ASSERT_NOT_EQUAL(outcome.status, STEP_STATUS_OK);
            if (outcome.status == STEP_STATUS_END) {
                CU_ASSERT_EQUAL(outcome.text_length, strlen(sample));
                CU_ASSERT_EQUAL(memcmp(outcome.text, sample, strlen(sample)), 0);
            }
        }
    }
    free(copy);
    free(file.data);
}

static int make_directory(void)
{
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/run.zip", directory);
    return 0;
}

static int remove_directory(void)
{
    unlink(path);
    return rmdir(directory);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("text files", make_directory, remove_directory);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "put event", test_put_event);
    CU_add_test(suite, "remark", test_remark);
    CU_add_test(suite, "many lines", test_many_lines);
    CU_add_test(suite, "zip layout", test_zip_layout);
    CU_add_test(suite, "ZIP64 directory", test_zip64_directory);
    CU_add_test(suite, "other tools", test_other_tools);
    CU_add_test(suite, "bad lines", test_bad_lines);
    CU_add_test(suite, "long lines", test_long_lines);
    CU_add_test(suite, "entries", test_entries);
    CU_add_test(suite, "other files", test_other_files);
    CU_add_test(suite, "full disk", test_full_disk);
    CU_add_test(suite, "cut", test_cut);
    CU_add_test(suite, "changed bytes", test_changed_bytes);
}
