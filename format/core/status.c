/* SPDX-License-Identifier: Apache-2.0 */
/* Status names and texts, and the caller-owned error report. */
#include "steptrace/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "steptrace/show.h"

static const struct {
    const char *name;
    const char *text;
} statuses[STEP_STATUS_COUNT] = {
#define STEP_STATUS_ROW(name, text) {#name, text},
    STEP_STATUS_LIST(STEP_STATUS_ROW)
#undef STEP_STATUS_ROW
};

const char *step_status_name(enum step_status status)
{
    return (unsigned) status < STEP_STATUS_COUNT ? statuses[status].name : "?";
}

const char *step_status_text(enum step_status status)
{
    return (unsigned) status < STEP_STATUS_COUNT ? statuses[status].text : "unknown status";
}

enum step_status step_error_set(struct step_error *error, enum step_status status, const char *file,
                                uint64_t offset, const char *format, ...)
{
    if (error == NULL)
        return status;
    error->status = status;
    error->offset = offset;
    snprintf(error->file, sizeof error->file, "%s", file != NULL ? file : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

void step_error_prefix(struct step_error *error, const char *context)
{
    if (error == NULL)
        return;
    char message[sizeof error->message];
    snprintf(message, sizeof message, "%s", error->message);
    snprintf(error->message, sizeof error->message, "%s: %.*s", context,
             (int) (sizeof message - strlen(context) % sizeof message), message);
}

void step_error_print(const struct step_error *error, char *out, size_t out_size)
{
    char place[32] = "";
    if (error->offset != STEP_NO_OFFSET)
        snprintf(place, sizeof place, "offset %" PRIu64 ": ", error->offset);
    const char *message =
        error->message[0] != '\0' ? error->message : step_status_text(error->status);
    char text[sizeof error->file + sizeof error->message + sizeof place + 4];
    int length = snprintf(text, sizeof text, "%s%s%s%s", error->file,
                          error->file[0] != '\0' ? ": " : "", place, message);
    step_show((struct step_bytes){(const uint8_t *) text, length > 0 ? (size_t) length : 0}, out,
              out_size);
}
