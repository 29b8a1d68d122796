/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by the parser of a memory-infra file.  memory_infra_read.c reads the file,
 * memory_infra_dump.c parses the two forms of events, and memory_infra_names.c
 * maps the file's ids to sites and classes.
 */
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

/* One event of the file.  Kept until its end, because the process id may be its last member. */
struct infra_event {
    uint64_t process;
    uint64_t time_ns;
    bool is_dump;
    char *texts; /* ids, NUL-terminated, concatenated; the first byte is not used */
    size_t text_length, text_capacity;
    struct infra_value *values;
    size_t count, capacity;
    /* Frames, types and strings defined by the event.  The last three numbers are positions in
     * `texts`. */
    size_t (*names)[4]; /* kind, id, name, parent */
    size_t name_count, name_capacity;
};

enum infra_name_kind { INFRA_FRAME, INFRA_TYPE, INFRA_V2_FRAME, INFRA_V2_TYPE, INFRA_V2_STRING };

struct infra_reading {
    struct memory_infra *infra;
    struct json_input *json;
    struct step_error *error;
    bool takes_names; /* in the first pass */
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
/* Returns true if the last token is this text. */
bool infra_text_is(const struct infra_reading *reading, const char *wanted);
/* Stores the last token's text until the event ends.  Returns its position in the event's texts, or
 * 0 if memory runs out. */
size_t infra_keep_text(struct infra_reading *reading);
/* Stores the next value in *target if it is a string or a number.  `target` NULL: skips the
 * value. */
enum step_status infra_take_text(struct infra_reading *reading, size_t *target);
/* Returns a stored text by its position. */
struct step_bytes infra_kept(const struct infra_reading *reading, size_t at);
bool infra_key_is(const struct infra_reading *reading, size_t key, const char *wanted);

/* Calls `take` for each key of the object that has just begun, with the token of its value. */
typedef enum step_status (*infra_take_member)(struct infra_reading *reading, enum json_token token,
                                              size_t key);
enum step_status infra_each_member(struct infra_reading *reading, infra_take_member take);
/* Returns false if `text` is not a whole number of 64 bits. */
bool infra_read_decimal(struct step_bytes text, uint64_t *value);

/* ---- contents of the event ---- */

/* Makes room for one more item. */
bool infra_make_room(void **items, size_t *capacity, size_t count, size_t item_bytes);
/* Adds a frame, type or string that the event defines, as positions in its texts. */
enum step_status infra_add_name(struct infra_reading *reading, enum infra_name_kind kind, size_t id,
                                size_t name, size_t parent);
enum step_status infra_add_value(struct infra_reading *reading, const struct infra_value *value);

/* ---- parsers of the parts ---- */

/* Parses a member of an event (memory_infra_dump.c). */
enum step_status infra_take_event_part(struct infra_reading *reading, enum json_token token,
                                       size_t key);
/* Adds the event's frames and types to the tables, strings first, because frames and types refer to
 * them. */
enum step_status infra_put_names(struct infra_reading *reading);
/* Returns false if its frame or type is missing. */
bool infra_resolve_value(struct infra_reading *reading, const struct infra_value *raw,
                         struct dump_value *value);
/* Resolves the sites of all frames.  Call it after all names have been read. */
enum step_status infra_resolve_frames(struct memory_infra *infra, struct step_error *error);

#endif
