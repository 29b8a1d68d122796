/* SPDX-License-Identifier: Apache-2.0 */
/* Names and source files of functions. */
#include "converter/formats/profile_names.h"

#include <string.h>

bool profile_function_name(const struct trace_names *names, uint32_t method_id,
                           struct step_buffer *out)
{
    const struct trace_method *method = trace_method_of(names, method_id);
    struct step_bytes class_name = trace_class_of(names, method->class_id)->name;
    out->length = 0;
    if (method->class_id != 0 && (!step_buffer_append(out, class_name.data, class_name.length) ||
                                  !step_buffer_append(out, ".", 1)))
        return false;
    return step_buffer_append(out, method->name.data, method->name.length);
}

bool profile_place_path(const struct trace_names *names, uint32_t method_id,
                        const struct frame_place *place, char path[HEAP_SITE_TEXT])
{
    uint32_t class_id = trace_method_of(names, method_id)->class_id;
    const struct frame_place of_class = {.file = trace_class_of(names, class_id)->file};
    char path_of_class[HEAP_SITE_TEXT];
    trace_source_path(names, class_id, place, path, HEAP_SITE_TEXT);
    trace_source_path(names, class_id, &of_class, path_of_class, sizeof path_of_class);
    return strcmp(path, path_of_class) != 0;
}
