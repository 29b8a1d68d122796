/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of STEP-DL: the program, and what its suites share. */
#include "tests/unit/format/language/language_test.h"
#include "tests/unit/run_suite.h"

#include <CUnit/Basic.h>
#include <stdio.h>

static void note_fault(void *user, const char *name, uint32_t line, uint32_t column,
                       const char *message)
{
    struct fault_list *faults = user;
    (void) name;
    if (faults->count == 0)
        snprintf(faults->first, sizeof faults->first, "%u:%u: %s", line, column, message);
    if (faults->count < sizeof faults->lines / sizeof faults->lines[0])
        faults->lines[faults->count] = line;
    faults->count++;
}

struct step_definition *dl_parse_text(const char *text, struct fault_list *faults,
                                      struct step_error *error)
{
    struct fault_list own;
    struct step_definition *definition = NULL;
    faults = faults != NULL ? faults : &own;
    memset(faults, 0, sizeof *faults);
    enum step_status status =
        step_definition_parse(text, strlen(text), "test", note_fault, faults, &definition, error);
    CU_ASSERT_EQUAL(status == STEP_STATUS_OK, definition != NULL);
    return definition;
}

const struct step_record *dl_record(const struct step_definition *definition, const char *name)
{
    static const struct step_record none;
    uint32_t index = definition != NULL ? step_definition_find(definition, name) : STEP_NO_RECORD;
    CU_ASSERT_NOT_EQUAL(index, STEP_NO_RECORD);
    return index != STEP_NO_RECORD ? &definition->records[index] : &none;
}

const struct step_field *dl_field(const struct step_definition *definition, const char *record,
                                  const char *field)
{
    static const struct step_field none;
    const struct step_record *in = dl_record(definition, record);
    size_t index = step_record_find_field(in, field);
    CU_ASSERT_NOT_EQUAL(index, SIZE_MAX);
    return index != SIZE_MAX ? &in->fields[index] : &none;
}

const char *dl_attributes(const struct step_attributes *attributes, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; attributes != NULL && i < attributes->count && used < out_size; i++)
        used += (size_t) snprintf(out + used, out_size - used, "%s=%s;", attributes->items[i].group,
                                  attributes->items[i].value);
    return out;
}

const struct step_attributes *dl_sub(const struct step_field *field, const char *path)
{
    for (size_t i = 0; i < field->sub_attribute_count; i++)
        if (strcmp(field->sub_attributes[i].path, path) == 0)
            return &field->sub_attributes[i].attributes;
    return NULL;
}

void add_suite(void)
{
    dl_add_language_suite();
    dl_add_fault_suite();
    dl_add_binding_suite();
    dl_add_evolution_suite();
    dl_add_figure_suite();
}
