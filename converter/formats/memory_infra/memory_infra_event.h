/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the parser of a memory-infra file: memory_infra_read.c reads the file, and
 * memory_infra_names.c maps its ids to sites and classes. */
#ifndef CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_EVENT_H
#define CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_EVENT_H

#include "converter/formats/memory_infra/memory_infra.h"
#include "format/json/json_input.h"

/* A value whose frame and type are still ids of the file: positions in the event's texts, 0 for
 * none. */
struct infra_value {
    size_t frame, type;
    bool is_v2, is_old;
    uint64_t bytes, objects;
};

enum infra_name_kind { INFRA_FRAME, INFRA_TYPE, INFRA_V2_FRAME, INFRA_V2_TYPE, INFRA_V2_STRING };

/* A frame, type or string; its texts are positions in those of the event. */
struct infra_name {
    enum infra_name_kind kind;
    size_t id, name, parent;
};

/* One event of the file.  Kept until its end, because the process id may be its last member. */
struct infra_event {
    uint64_t process;
    uint64_t time_ns;
    bool is_dump;
    char *texts; /* ids, NUL-terminated, concatenated; the first byte is not used */
    size_t text_length, text_capacity;
    struct infra_value *values;
    size_t count, capacity;
    struct infra_name *names; /* that the event defines */
    size_t name_count, name_capacity;
};

struct infra_reading {
    struct memory_infra *infra;
    struct json_input *json;
    struct step_error *error;
    enum step_status status; /* the first failure */
    bool takes_names;        /* in the first pass */
    const char *heap;
    memory_infra_receive receive;
    void *user;
    uint64_t dump_count;
    struct infra_event event;
};

void infra_no_memory(struct infra_reading *reading);
/* Adds the event's frames and types to the tables, strings first, because frames and types refer to
 * them. */
void infra_put_names(struct infra_reading *reading);
/* Returns false if its frame or type is missing. */
bool infra_resolve_value(struct infra_reading *reading, const struct infra_value *raw,
                         struct dump_value *value);
/* Resolves the sites of all frames.  Call it after all names have been read. */
enum step_status infra_resolve_frames(struct memory_infra *infra, struct step_error *error);

#endif
