/* SPDX-License-Identifier: Apache-2.0 */
/* Opens STEP traces. */
#include "converter/files/trace_reader.h"

#include "converter/cli/given_definition.h"
#include "converter/files/joined_files.h"
#include "converter/files/output_rights.h"
#include "converter/files/sampled_trace.h"
#include "steptrace/definition.h"

static enum step_status open_any(const char *path, struct step_reader **reader,
                                 struct step_error *error)
{
    const char *given_path = given_definition_path();
    struct step_definition *given = NULL;
    struct step_definition_options options = {.includes = true};
    *reader = NULL;
    output_rights_note(path);
    enum step_status status = joined_files_open(path, reader, error);
    if (status != STEP_STATUS_OK || *reader != NULL)
        return status;
    if (given_path == NULL)
        return step_reader_open(path, reader, error);
    status = step_definition_load(given_path, &options, &given, error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_INVALID ? STEP_STATUS_CORRUPT : status;
    struct step_bytes text = {(const uint8_t *) given->text, given->text_length};
    status = step_reader_open_defined(path, text, reader, error);
    step_definition_destroy(given);
    return status;
}

enum step_status open_with_given_definition(const char *path, const char *needs_all,
                                            struct step_reader **reader, struct step_error *error)
{
    enum step_status status = open_any(path, reader, error);
    if (status == STEP_STATUS_OK)
        status = sampled_trace_admit(*reader, path, needs_all, error);
    if (status != STEP_STATUS_OK) {
        step_reader_destroy(*reader);
        *reader = NULL;
    }
    return status;
}
