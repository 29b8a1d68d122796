/* SPDX-License-Identifier: Apache-2.0 */
/* Options of output formats that store allocations. */
#include "converter/trace/alloc_options.h"

#include <string.h>

#include "converter/base/arguments.h"

static bool take_addresses(void *addresses_target, const char *value, const char **fault)
{
    static const char *const names[] = {"id", "bump", "malloc"};
    *fault = "id, bump or malloc is expected";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(value, names[i]) == 0) {
            *(enum alloc_addresses *) addresses_target = (enum alloc_addresses) i;
            return true;
        }
    return false;
}

static bool take_attributes(void *bool_target, const char *value, const char **fault)
{
    *fault = "class is expected";
    *(bool *) bool_target = true;
    return strcmp(value, "class") == 0;
}

static bool take_split(void *split_target, const char *value, const char **fault)
{
    *fault = "fields or address is expected";
    *(enum hatf_split *) split_target =
        strcmp(value, "fields") == 0 ? HATF_SPLIT_FIELDS : HATF_SPLIT_ADDRESS;
    return strcmp(value, "fields") == 0 || strcmp(value, "address") == 0;
}

static bool take_omitted(void *unsigned_target, const char *value, const char **fault)
{
    *fault = "time, thread, heap and attributes are expected, with + between";
    for (;;) {
        size_t length = strcspn(value, "+");
        unsigned field = HATF_TIME;
        while (field < HATF_FIELD_COUNT &&
               (strlen(hatf_field_name((enum hatf_field) field)) != length ||
                strncmp(value, hatf_field_name((enum hatf_field) field), length) != 0))
            field++;
        if (field == HATF_FIELD_COUNT)
            return false;
        *(unsigned *) unsigned_target |= 1u << field;
        if (value[length] == '\0')
            return true;
        value += length + 1;
    }
}

static const struct format_option event_rows[] = {
    {{"addresses", 0, "HOW", "HATF: id (default), bump or malloc", take_addresses, NULL},
     offsetof(struct alloc_options, addresses)},
    {{"attributes", 0, "class", "HATF: store the class name with each object", take_attributes,
      NULL},
     offsetof(struct alloc_options, class_attributes)},
    {.place = 0}};

static const struct format_option split_rows[] = {
    {{"split", 0, "HOW", "HATF: a ZIP file of streams: fields or address", take_split, NULL},
     offsetof(struct alloc_options, split)},
    {.place = 0}};

static const struct format_option omit_rows[] = {
    {{"omit", 0, "FIELDS", "HATF: leave out time, thread, heap, attributes (joined by +)",
      take_omitted, NULL},
     offsetof(struct alloc_options, omitted)},
    {.place = 0}};

const struct format_options alloc_event_options = {sizeof(struct alloc_options), event_rows, NULL};
const struct format_options alloc_split_options = {0, split_rows, &alloc_event_options};
const struct format_options alloc_omit_options = {0, omit_rows, &alloc_event_options};

const struct alloc_options *alloc_options_of(const struct format_settings *settings)
{
    return format_settings_get(settings, &alloc_event_options);
}
