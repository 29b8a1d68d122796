/* SPDX-License-Identifier: Apache-2.0 */
/* make_records DEFINITION OUT COUNT INCLUDES...: a trace of any definition, with COUNT records of
 * each type in two streams and some entries of each dictionary, of values that a seed makes.  Times
 * go up. */
#include <stdio.h>
#include <stdlib.h>

#include "steptrace/writer.h"
#include "tests/unit/format/definitions/values.h"

enum { STREAMS = 2, ENTRIES = 3 };

static void must(enum step_status status, const struct step_error *error)
{
    char text[1024];
    if (status == STEP_STATUS_OK)
        return;
    step_error_print(error, text, sizeof text);
    fprintf(stderr, "make_records: %s\n", text);
    exit(1);
}

/* Values that the definition does not allow are left out. */
static void put_record(struct step_writer *writer, const struct step_definition *definition,
                       uint32_t record, uint64_t number)
{
    size_t time = step_record_find_property(definition, record, "time");
    uint64_t *slots = values_make(definition, record, number + 1);
    if (time != STEP_NO_PROPERTY_SLOT)
        slots[time] = (number * definition->record_count + record) * 1000;
    if (step_writer_put(writer, number % STREAMS, record, slots) != STEP_STATUS_OK)
        fprintf(stderr, "make_records: a %s is refused\n", definition->records[record].name);
    values_release();
}

static void put_entry(struct step_writer *writer, const struct step_definition *definition,
                      uint32_t record, uint64_t number)
{
    step_writer_define(writer, record, values_make(definition, record, number + 1000), NULL);
    values_release();
}

int main(int argc, char **argv)
{
    struct step_definition *definition;
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (argc < 5)
        return 2;
    const struct step_definition_options reading = {.includes = true,
                                                    .directories = (const char *const *) &argv[4],
                                                    .directory_count = (size_t) argc - 4};
    must(step_definition_load(argv[1], &reading, &definition, &error), &error);
    step_writer_options_init(&options);
    options.definition = definition;
    must(step_writer_open(argv[2], &options, &writer, &error), &error);
    uint64_t count = strtoull(argv[3], NULL, 10);
    for (uint64_t number = 0; number < ENTRIES; number++)
        for (uint32_t i = 0; i < definition->record_count; i++)
            put_entry(writer, definition, i, number);
    for (uint64_t number = 0; number < count; number++)
        for (uint32_t i = 0; i < definition->record_count; i++)
            put_record(writer, definition, i, number);
    step_writer_close(writer, &error); /* tells of what was refused */
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    return 0;
}
