/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of the file while it is read: what the reader's parts share.  memory_infra_read.c goes
 * through the file, memory_infra_dump.c and memory_infra_v2.c take what an event has in either
 * form, memory_infra_names.c makes sites and classes of its ids.
 */
#ifndef CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_EVENT_H
#define CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_EVENT_H

#include "converter/formats/memory_infra/memory_infra.h"
#include "format/json/json_input.h"

/* A value whose frame and type are still the file's ids: places in the event's texts, 0 for none.
 */
struct infra_value {
    size_t frame, type;
    bool is_v2, is_old;
    uint64_t bytes, objects;
};

/* One event of the file, until its end: the process may be named last. */
struct infra_event {
    uint64_t process;
    uint64_t time_ns;
    bool is_dump;
    char *texts; /* ids, NUL-terminated, behind each other; the first byte is not used */
    size_t text_length, text_capacity;
    struct infra_value *values;
    size_t count, capacity;
    /* frames and types that it tells of, as numbers of texts: id, name, parent */
    size_t (*names)[4]; /* kind, id, name, parent */
    size_t name_count, name_capacity;
};

enum infra_name_kind { INFRA_FRAME, INFRA_TYPE, INFRA_V2_FRAME, INFRA_V2_TYPE, INFRA_V2_STRING };

struct infra_reading {
    struct memory_infra *infra;
    struct json_input *json;
    struct step_error *error;
    bool takes_names; /* the first pass */
    const char *heap;
    memory_infra_receive receive;
    void *user;
    uint64_t dump_count;
    struct infra_event event;
};

/* ---- tokens ---- */

enum step_status infra_no_memory(struct infra_reading *reading);
enum step_status infra_next(struct infra_reading *reading, enum json_token *token);
enum step_status infra_skip(struct infra_reading *reading, enum json_token token);
/* Is the last token this text? */
bool infra_text_is(const struct infra_reading *reading, const char *wanted);
/* Keeps the last token's text until the event ends; 0: out of memory. */
size_t infra_keep_text(struct infra_reading *reading);
/* Keeps the next value in *target if it is a string or a number; `target` NULL: passes over it. */
enum step_status infra_take_text(struct infra_reading *reading, size_t *target);
/* A text that was kept. */
struct step_bytes infra_kept(const struct infra_reading *reading, size_t at);
bool infra_key_is(const struct infra_reading *reading, size_t key, const char *wanted);

/* Calls `take` for each key of the object that has just begun, with the token of its value. */
typedef enum step_status (*infra_take_member)(struct infra_reading *reading, enum json_token token,
                                              size_t key);
enum step_status infra_each_member(struct infra_reading *reading, infra_take_member take);
/* False: it is no whole number of 64 bits. */
bool infra_read_decimal(struct step_bytes text, uint64_t *value);

/* ---- what the event has ---- */

/* Room for one more. */
bool infra_make_room(void **items, size_t *capacity, size_t count, size_t item_bytes);
/* A frame, type or string that the event tells of, as places of its texts. */
enum step_status infra_add_name(struct infra_reading *reading, enum infra_name_kind kind, size_t id,
                                size_t name, size_t parent);
enum step_status infra_add_value(struct infra_reading *reading, const struct infra_value *value);

/* ---- the parts ---- */

/* A member of an event (memory_infra_dump.c). */
enum step_status infra_take_event_part(struct infra_reading *reading, enum json_token token,
                                       size_t key);
/* A member of "heaps_v2" (memory_infra_v2.c). */
enum step_status infra_take_v2_part(struct infra_reading *reading, enum json_token token,
                                    size_t key);
/* The event's frames and types into the tables.  Strings first: the others name them. */
enum step_status infra_put_names(struct infra_reading *reading);
/* False: its frame or type is missing. */
bool infra_resolve_value(struct infra_reading *reading, const struct infra_value *raw,
                         struct dump_value *value);
/* Once all names are there: the frames' sites. */
enum step_status infra_resolve_frames(struct memory_infra *infra, struct step_error *error);

#endif
