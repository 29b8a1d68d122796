/* SPDX-License-Identifier: Apache-2.0 */
/* Reports where building a plan failed. */
#include "format/step/plan/plan_build.h"

enum step_status step_plan_fail(struct step_plan_builder *builder, enum step_status status,
                                const char *what)
{
    const struct step_record *record = &builder->definition->records[builder->record];
    const char *field =
        builder->field < record->field_count ? record->fields[builder->field].name : NULL;
    return step_error_set(builder->error, status, NULL, STEP_NO_OFFSET, "record %s%s%s: %s",
                          record->name, field != NULL ? ", field " : "", field != NULL ? field : "",
                          what);
}
