/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a definition; what parses is asked everything that a reader asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "steptrace/maps.h"

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

/* The canonical form of a definition, to be freed. */
static char *print(const struct step_definition *definition, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (out == NULL)
        abort();
    print_canonical(&(struct text_output){definition, "fuzz", out});
    fclose(out);
    return text;
}

/* It parses to the same: as many records, and the same canonical form. */
static void check_canonical(const struct step_definition *definition)
{
    size_t length = 0, again_length = 0;
    struct step_definition *again = NULL;
    char *text = print(definition, &length);
    if (length <= (size_t) 1 << 20) {
        if (step_definition_parse(text, length, "again", NULL, NULL, &again, NULL) !=
                STEP_STATUS_OK ||
            again->record_count != definition->record_count)
            abort();
        char *again_text = print(again, &again_length);
        if (again_length != length || memcmp(text, again_text, length) != 0)
            abort();
        free(again_text);
    }
    step_definition_destroy(again);
    free(text);
}

/* No map leads to a record that is not there. */
static void check_maps(const struct step_definition *definition)
{
    struct step_maps *maps = NULL;
    if (step_maps_create(definition, NULL, NULL, &maps, NULL) == STEP_STATUS_OK)
        for (uint32_t i = 0; i < definition->record_count && i < 200; i++)
            for (uint32_t j = 0; j < definition->record_count && j < 200; j++) {
                uint32_t target = step_maps_target(maps, i, j);
                if (target != STEP_NO_RECORD && !step_record_extends(definition, target, j))
                    abort();
            }
    step_maps_destroy(maps);
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
    if (definition != NULL) {
        ask(definition);
        check_canonical(definition);
        check_maps(definition);
    }
    step_definition_destroy(definition);
    return 0;
}
