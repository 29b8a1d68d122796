/* SPDX-License-Identifier: Apache-2.0 */
/* What can be chosen of HATF. */
#include <string.h>

#include "converter/allocs/events_as_allocs.h"
#include "converter/base/arguments.h"
#include "converter/formats/hatf/hatf_format.h"

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

static bool take_encoding(void *encoding_target, const char *value, const char **fault)
{
    *fault = "naive, small-size, same-size, combined-size, base-offset-1, base-offset-2, "
             "best-base-offset, stride, best or optimal is expected";
    for (unsigned i = 0; i < HATF_ENCODING_COUNT; i++)
        if (strcmp(value, hatf_encoding_name((enum hatf_encoding) i)) == 0) {
            *(enum hatf_encoding *) encoding_target = (enum hatf_encoding) i;
            return true;
        }
    return false;
}

static bool take_packer(void *compression_target, const char *value, const char **fault)
{
    *fault = "gzip or zstd is expected";
    *(enum step_compression *) compression_target =
        strcmp(value, "gzip") == 0 ? STEP_COMPRESSION_ZLIB : STEP_COMPRESSION_ZSTD;
    return strcmp(value, "gzip") == 0 || strcmp(value, "zstd") == 0;
}

static bool take_split(void *split_target, const char *value, const char **fault)
{
    *fault = "fields or address is expected";
    *(enum hatf_split *) split_target =
        strcmp(value, "fields") == 0 ? HATF_SPLIT_FIELDS : HATF_SPLIT_ADDRESS;
    return strcmp(value, "fields") == 0 || strcmp(value, "address") == 0;
}

static bool take_field_bytes(void *bool_target, const char *value, const char **fault)
{
    *fault = "4 or 8 is expected";
    *(bool *) bool_target = strcmp(value, "4") == 0;
    return *(bool *) bool_target || strcmp(value, "8") == 0;
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

size_t hatf_options(struct option_row *rows, struct event_sink_options *options)
{
    const struct option_row mine[] = {
        {"addresses", 0, "HOW", "HATF: id (default), bump or malloc", take_addresses,
         &options->records->addresses},
        {"attributes", 0, "class", "HATF: store the class name with each object", take_attributes,
         &options->records->class_attributes},
        {"encoding", 0, "NAME", "HATF: naive (default), small-size, ..., best or optimal",
         take_encoding, &options->encoding},
        {"for", 0, "PACKER", "HATF: best or optimal so that gzip or zstd makes it smallest",
         take_packer, &options->packed_by},
        {"split", 0, "HOW", "HATF: a ZIP file of streams: fields or address", take_split,
         &options->split},
        {"omit", 0, "FIELDS", "HATF: leave out time, thread, heap, attributes (with +)",
         take_omitted, &options->omitted},
        {"field-bytes", 0, "N", "simple-binary: bytes a field, 8 (default) or 4", take_field_bytes,
         &options->has_short_fields}};
    memcpy(rows, mine, sizeof mine);
    return sizeof mine / sizeof mine[0];
}
