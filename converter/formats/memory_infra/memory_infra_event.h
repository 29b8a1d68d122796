/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the parser of a memory-infra file: memory_infra_read.c reads its events,
 * memory_infra_tokens.c tokens, memory_infra_heaps.c the heaps of a dump, and memory_infra_names.c
 * maps its ids to sites and classes. */
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

/* Returns JSON_END after a failure, too. */
enum json_token infra_next(struct infra_reading *reading);
/* Reads the first token of the array's next item.  Returns false at its end. */
bool infra_next_item(struct infra_reading *reading, enum json_token *token);
void infra_skip(struct infra_reading *reading, enum json_token token);
/* Returns true if the last token is this text. */
bool infra_text_is(const struct infra_reading *reading, const char *wanted);
/* Stores the last token's text until the event ends.  Returns its position in the event's texts, or
 * 0 if memory runs out. */
size_t infra_keep_text(struct infra_reading *reading);
/* Stores the next value in *target if it is a string or a number.  `target` NULL: skips the
 * value. */
void infra_take_text(struct infra_reading *reading, size_t *target);
bool infra_key_is(const struct infra_reading *reading, size_t key, const char *wanted);
/* Calls `take` for each key of the object that has just begun, with the token of its value. */
void infra_each_member(struct infra_reading *reading,
                       void (*take)(struct infra_reading *reading, enum json_token token,
                                    size_t key));
/* Returns false if `text` is not a whole number of 64 bits. */
bool infra_read_decimal(struct step_bytes text, uint64_t *value);
/* Adds a frame, type or string that the event defines, as positions in its texts. */
void infra_add_name(struct infra_reading *reading, enum infra_name_kind kind, size_t id,
                    size_t name, size_t parent);
void infra_add_value(struct infra_reading *reading, const struct infra_value *value);

/* Take a member that has begun, with the token of its value: a frame, as "id": {"name": ...,
 * "parent": ...}; a type; the heaps of a dump. */
void infra_take_stack_frame(struct infra_reading *reading, enum json_token token, size_t id);
void infra_take_type_name(struct infra_reading *reading, enum json_token token, size_t id);
void infra_take_dumps_part(struct infra_reading *reading, enum json_token token, size_t key);

/* Adds the event's frames and types to the tables, strings first, because frames and types refer to
 * them. */
void infra_put_names(struct infra_reading *reading);
/* Returns false if its frame or type is missing. */
bool infra_resolve_value(struct infra_reading *reading, const struct infra_value *raw,
                         struct dump_value *value);
/* Resolves the sites of all frames.  Call it after all names have been read. */
enum step_status infra_resolve_frames(struct memory_infra *infra, struct step_error *error);

#endif
