/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any trace without generated code: dynamic FILE [RECORD...].  Counts the records that are or
 * extend RECORD, or that a map makes one, and adds up their numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "steptrace/records.h"

/* The sum of all ints of a record that are fields of its own. */
static uint64_t add_up(const struct step_definition *definition,
                       const struct step_record_view *view)
{
    const struct step_record *type = &definition->records[view->record];
    uint64_t sum = 0;
    size_t slot = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        if (field->kind == STEP_TYPE_INT && field->array_depth == 0)
            sum += view->slots[slot];
        slot += step_field_is_nested(field) ? step_record_slot_count(definition, field->record) : 1;
    }
    return sum;
}

static int read_all(struct step_reader *reader, struct step_selection *selection)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    uint64_t *counts = calloc(definition->record_count + 1, sizeof *counts);
    uint64_t *sums = calloc(definition->record_count + 1, sizeof *sums);
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_records *records = NULL;
    struct step_record_view view;
    enum step_status status = step_records_create(reader, selection, &records, &error);
    while (counts != NULL && sums != NULL && status == STEP_STATUS_OK &&
           (status = step_records_next(records, &view, &error)) == STEP_STATUS_OK) {
        counts[view.record]++;
        sums[view.record] += add_up(definition, &view);
    }
    for (size_t i = 0; status == STEP_STATUS_END && i < definition->record_count; i++)
        if (counts[i] > 0)
            printf("%s: %" PRIu64 ", sum %" PRIu64 "\n", definition->records[i].name, counts[i],
                   sums[i]);
    step_records_destroy(records);
    free(counts);
    free(sums);
    if (status != STEP_STATUS_END)
        fprintf(stderr, "dynamic: %s\n", error.message);
    return status == STEP_STATUS_END ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_reader *reader = NULL;
    struct step_selection *selection = NULL;
    int code = 1;
    if (argc < 2) {
        fprintf(stderr, "usage: dynamic FILE [RECORD...]\n");
        return 2;
    }
    if (step_reader_open(argv[1], &reader, &error) == STEP_STATUS_OK &&
        step_selection_create(step_reader_borrow_definition(reader),
                              (const char *const *) (argv + 2), (size_t) argc - 2, true, &selection,
                              &error) == STEP_STATUS_OK)
        code = read_all(reader, selection);
    else
        fprintf(stderr, "dynamic: %s\n", error.message);
    step_selection_destroy(selection);
    step_reader_destroy(reader);
    return code;
}
