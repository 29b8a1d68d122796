/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Meta-TF file, read by the DTD that it carries, else by that of split HATF.  Where
 * there is generated code for the DTD, it has to come to the same end. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf_metatf.h"
#include "steptrace/hatf_split_metatf.h"
#include "steptrace/java_metatf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    enum step_status status;
    uint64_t offset;
    uint64_t records;
};

static enum step_status read_at(void *user, uint64_t offset, void *buffer, size_t size,
                                struct step_error *error)
{
    const struct step_bytes *bytes = user;
    (void) error;
    if (offset > bytes->length || size > bytes->length - offset)
        abort();
    memcpy(buffer, bytes->data + offset, size);
    return STEP_STATUS_OK;
}

static uint64_t touch(struct step_bytes bytes)
{
    return bytes.length > 0 ? (uint64_t) bytes.data[0] + bytes.data[bytes.length - 1] : 0;
}

static struct outcome read_universal(struct metatf_file *file, const struct metatf_dtd *dtd)
{
    struct metatf_reader *reader;
    struct metatf_event event;
    struct step_error error = {.offset = 0};
    struct outcome outcome = {.records = 0};
    uint64_t sum = 0;
    if (metatf_reader_create(file, dtd, &reader, &error) != STEP_STATUS_OK)
        abort();
    while ((outcome.status = metatf_reader_next(reader, &event, &error)) == STEP_STATUS_OK) {
        outcome.records += event.record->role <= METATF_COMMENT;
        for (size_t i = 0; i < event.value_count; i++)
            sum += event.values[i].number + touch(event.values[i].bytes);
    }
    outcome.offset = error.offset;
    volatile uint64_t used = sum; /* the bytes are looked at */
    (void) used;
    metatf_reader_destroy(reader);
    return outcome;
}

#define READ(base)                                                                                 \
    static struct outcome read_##base(struct metatf_file *file)                                    \
    {                                                                                              \
        struct metatf_reader *reader;                                                              \
        struct base##_event event;                                                                 \
        struct step_error error = {.offset = 0};                                                   \
        struct outcome outcome = {.records = 0};                                                   \
        if (metatf_reader_create(file, &base##_dtd, &reader, &error) != STEP_STATUS_OK)            \
            abort();                                                                               \
        while ((outcome.status = base##_get_next_event(reader, &event, &error)) == STEP_STATUS_OK) \
            outcome.records++;                                                                     \
        outcome.offset = error.offset;                                                             \
        metatf_reader_destroy(reader);                                                             \
        return outcome;                                                                            \
    }                                                                                              \
    static void check_##base(struct metatf_file *file, const struct metatf_dtd *dtd,               \
                             struct outcome outcome)                                               \
    {                                                                                              \
        struct metatf_reader *reader;                                                              \
        if (metatf_reader_create(file, dtd, &reader, NULL) != STEP_STATUS_OK)                      \
            abort();                                                                               \
        bool same = metatf_reader_check(reader, &base##_dtd, NULL) == STEP_STATUS_OK;              \
        metatf_reader_destroy(reader);                                                             \
        if (!same)                                                                                 \
            return;                                                                                \
        struct outcome other = read_##base(file);                                                  \
        if (other.status != outcome.status || other.records != outcome.records ||                  \
            other.offset != outcome.offset)                                                        \
            abort();                                                                               \
    }

READ(step_hatf_metatf)
READ(step_hatf_split_metatf)
READ(step_java_metatf)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct step_bytes bytes = {data, size};
    const struct metatf_input input = {&bytes, size, read_at};
    struct metatf_file *file;
    struct metatf_dtd *own = NULL;
    if (metatf_file_open(&input, "fuzz", &file, NULL) != STEP_STATUS_OK)
        return 0;
    const struct metatf_file_about *about = metatf_file_about(file);
    if (about->dtd_text != NULL)
        metatf_dtd_parse(about->dtd_text, about->dtd_length, "fuzz", NULL, NULL, &own, NULL);
    if (about->dtd_text == NULL || own != NULL) {
        const struct metatf_dtd *dtd = own != NULL ? own : &step_hatf_split_metatf_dtd;
        struct outcome outcome = read_universal(file, dtd);
        check_step_hatf_metatf(file, dtd, outcome);
        check_step_hatf_split_metatf(file, dtd, outcome);
        check_step_java_metatf(file, dtd, outcome);
    }
    metatf_dtd_destroy(own);
    metatf_file_close(file);
    return 0;
}
