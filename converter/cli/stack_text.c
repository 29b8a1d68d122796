/* SPDX-License-Identifier: Apache-2.0 */
/* Formats call stacks, independently of how frames are stored. */
#include "converter/cli/stack_text.h"

#include <inttypes.h>

#include "converter/cli/csv_output.h"
#include "converter/cli/error_report.h"
#include "steptrace/show.h"

size_t frame_place_text(struct frame_place place, char *out, size_t out_size)
{
    int length = 0;
    out[0] = '\0';
    if (place.line != 0)
        length = snprintf(out, out_size, ":%" PRIu64, place.line);
    else if (place.bytecode != 0)
        length = snprintf(out, out_size, "@%" PRIu64, place.bytecode - 1);
    return (size_t) length;
}

static size_t stack_text_append(char *out, size_t used, size_t out_size, struct step_bytes text)
{
    size_t room = out_size - used - 1;
    size_t length = text.length < room ? text.length : room;
    if (length > 0)
        memcpy(out + used, text.data, length);
    out[used + length] = '\0';
    return used + length;
}

size_t frame_text(struct step_bytes class_name, struct step_bytes method, struct frame_place place,
                  char *out, size_t out_size)
{
    char text[24];
    size_t used = stack_text_append(out, 0, out_size, class_name);
    if (used > 0)
        used = stack_text_append(out, used, out_size, step_text("."));
    used = stack_text_append(out, used, out_size, method);
    bool has_file = place.file.length > 0 && place.line != 0;
    if (has_file) {
        used = stack_text_append(out, used, out_size, step_text("("));
        used = stack_text_append(out, used, out_size, place.file);
    }
    frame_place_text(place, text, sizeof text);
    used = stack_text_append(out, used, out_size, step_text(text));
    return has_file ? stack_text_append(out, used, out_size, step_text(")")) : used;
}

void stack_text_parts(struct stack_text stack, void (*put)(struct step_bytes part, void *user),
                      void *user)
{
    char room[FRAME_TEXT];
    uint64_t frame = stack.innermost, count = 0;
    if (frame == 0)
        put(step_text("(no stack)"), user);
    while (frame != 0) {
        if (count > 0)
            put(step_text(" <- "), user);
        if (count++ == stack.depth && stack.depth != 0) {
            put(step_text("..."), user);
            return;
        }
        put(stack.frame_of(stack.frames, &frame, room), user);
    }
}

static void print_part(struct step_bytes part, void *user)
{
    print_shown(part, user);
}

void stack_print(struct stack_text stack, FILE *out)
{
    stack_text_parts(stack, print_part, out);
}

struct cut_text {
    char *out;
    size_t size, used;
};

static void show_part(struct step_bytes part, void *user)
{
    struct cut_text *text = user;
    text->used += step_show(part, text->out + text->used, text->size - text->used);
}

size_t stack_show(struct stack_text stack, char *out, size_t out_size)
{
    struct cut_text text = {out, out_size, 0};
    stack_text_parts(stack, show_part, &text);
    return text.used;
}

void stack_put_json(struct stack_text stack, struct json_output *json, const char *key)
{
    char room[FRAME_TEXT];
    json_begin_array(json, key);
    for (uint64_t frame = stack.innermost; frame != 0;)
        json_bytes(json, NULL, stack.frame_of(stack.frames, &frame, room));
    json_end_array(json);
}

void stack_put_csv(struct stack_text stack, FILE *out)
{
    char room[FRAME_TEXT];
    fputc('"', out);
    for (uint64_t frame = stack.innermost; frame != 0;) {
        csv_put_shown(stack.frame_of(stack.frames, &frame, room), out);
        fputs(frame != 0 ? ";" : "", out);
    }
    fputc('"', out);
}
