/* SPDX-License-Identifier: Apache-2.0 */
/* Storage of format option values. */
#include "converter/trace/trace_format.h"

#include <stdlib.h>

static const struct format_options *owner(const struct format_options *options)
{
    return options->shares != NULL ? options->shares : options;
}

static void *trace_format_find(const struct format_settings *settings,
                               const struct format_options *options)
{
    for (size_t i = 0; settings != NULL && i < settings->count; i++)
        if (settings->items[i].options == owner(options))
            return settings->items[i].values;
    return NULL;
}

void *format_settings_set(struct format_settings *settings, const struct format_options *options)
{
    void *values = trace_format_find(settings, options);
    size_t unit = _Alignof(max_align_t);
    size_t size = (owner(options)->size_bytes + unit - 1) / unit * unit;
    if (values != NULL)
        return values;
    if (settings->count == FORMAT_GROUPS_MOST ||
        size > sizeof settings->room - settings->used_bytes)
        abort(); /* raise the limits in the header when adding formats */
    values = settings->room + settings->used_bytes;
    settings->used_bytes += size;
    settings->items[settings->count].options = owner(options);
    settings->items[settings->count++].values = values;
    return values;
}

const void *format_settings_get(const struct format_settings *settings,
                                const struct format_options *options)
{
    static const struct format_settings defaults = {.count = 0};
    const void *values = trace_format_find(settings, options);
    return values != NULL ? values : defaults.room;
}

enum step_packing trace_format_packing(const struct trace_format *format, const char *path)
{
    return format->packing == STEP_PACKING_NONE && format->packs_by_ending
               ? step_packing_by_ending(path)
               : format->packing;
}

static const struct format_option level[] = {
    {{"level", 0, "N", "compression level, 1 to 19 (gzip: 1 to 9)", take_level, NULL}, 0},
    {.place = 0}};

const struct format_options compression_options = {sizeof(int), level, NULL};

int format_settings_level(const struct format_settings *settings)
{
    return *(const int *) format_settings_get(settings, &compression_options);
}
