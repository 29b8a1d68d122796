/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a definition; what parses is asked everything that a reader asks. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_fault(void *user, const char *name, uint32_t line, uint32_t column,
                        const char *message)
{
    (void) name;
    *(size_t *) user += line + column + strlen(message);
}

static void ask(const struct step_definition *definition)
{
    for (uint32_t i = 0; i < definition->record_count; i++) {
        const struct step_record *record = &definition->records[i];
        /* Names are unique, and a parent stands before its children. */
        if (step_definition_find(definition, record->name) != i ||
            (record->parent != STEP_NO_RECORD && record->parent >= i) ||
            !step_record_extends(definition, i, i))
            abort();
        step_record_slot_count(definition, i);
        for (size_t j = 0; j < record->field_count; j++) {
            const struct step_field *field = &record->fields[j];
            if (step_record_find_field(record, field->name) != j || field->declaring_record > i ||
                (field->kind == STEP_TYPE_RECORD && field->record >= definition->record_count))
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct step_definition *definition = NULL;
    struct step_error error;
    size_t reported = 0;
    enum step_status status = step_definition_parse((const char *) data, size, "fuzz", count_fault,
                                                    &reported, &definition, &error);
    if ((status == STEP_STATUS_OK) != (definition != NULL))
        abort();
    if (definition != NULL)
        ask(definition);
    step_definition_destroy(definition);
    return 0;
}
