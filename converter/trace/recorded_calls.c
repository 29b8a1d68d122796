/* SPDX-License-Identifier: Apache-2.0 */
/* Converts texts of stacks to frames, parsing each text once. */
#include "converter/trace/recorded_calls.h"

#include <string.h>

#define DEPTH_MOST 1024u

static const char *const call_names[] = {
    "malloc",  "calloc",  "aligned_alloc",  "posix_memalign", "memalign",       "valloc",
    "pvalloc", "new",     "new[]",          "delete",         "delete[]",       "mallocx",
    "rallocx", "dallocx", "mi_heap_malloc", "mi_heap_calloc", "mi_heap_realloc"};

void recorded_calls_reset(struct recorded_calls *calls)
{
    if (!calls->is_ready)
        return;
    name_index_reset(&calls->texts);
    name_index_reset(&calls->methods);
    name_index_reset(&calls->frames);
    id_table_reset(&calls->stacks);
    calls->is_ready = false;
}

static void make_ready(struct recorded_calls *calls)
{
    if (!calls->is_ready)
        id_table_init(&calls->stacks, sizeof(uint32_t));
    calls->is_ready = true;
}

const char *recorded_call_text(uint32_t call)
{
    return call < sizeof call_names / sizeof call_names[0] ? call_names[call] : "";
}

static bool is_call(struct step_bytes text)
{
    const uint8_t *comma = text.length > 0 ? memchr(text.data, ',', text.length) : NULL;
    size_t length = comma != NULL ? (size_t) (comma - text.data) : text.length;
    for (size_t i = 0; i < sizeof call_names / sizeof call_names[0]; i++)
        if (strlen(call_names[i]) == length && memcmp(call_names[i], text.data, length) == 0)
            return true;
    return false;
}

bool recorded_call_split(struct step_bytes attributes, struct step_bytes *call,
                         struct step_bytes *stack)
{
    const uint8_t *mark =
        attributes.length > 0 ? memchr(attributes.data, ';', attributes.length) : NULL;
    if (mark == NULL)
        return false;
    *call = (struct step_bytes){attributes.data, (size_t) (mark - attributes.data)};
    *stack = (struct step_bytes){mark + 1, attributes.length - call->length - 1};
    return is_call(*call);
}

#define EXISTING ",existing"
#define EXISTING_LENGTH (sizeof EXISTING - 1)

bool recorded_call_take_existing(struct step_bytes *call)
{
    size_t length = call->length;
    if (length <= EXISTING_LENGTH ||
        memcmp(call->data + length - EXISTING_LENGTH, EXISTING, EXISTING_LENGTH) != 0)
        return false;
    call->length = length - EXISTING_LENGTH;
    return is_call(*call);
}

size_t recorded_call_put_existing(struct step_bytes attributes, uint8_t *out)
{
    static const uint8_t plain[] = {'m', 'a', 'l', 'l', 'o', 'c'};
    struct step_bytes call = attributes, stack = {NULL, 0};
    bool has_stack = recorded_call_split(attributes, &call, &stack);
    if (!has_stack)
        call = attributes;
    if (call.length == 0)
        call = (struct step_bytes){plain, sizeof plain};
    struct step_bytes before = call;
    size_t used = call.length;
    memcpy(out, call.data, used);
    if (!recorded_call_take_existing(&before)) {
        memcpy(out + used, EXISTING, EXISTING_LENGTH);
        used += EXISTING_LENGTH;
    }
    if (!has_stack)
        return used;
    out[used++] = ';';
    memcpy(out + used, stack.data, stack.length);
    return used + stack.length;
}

/* Splits "function file.c:12" into the text without the line, and the line. */
static struct step_bytes cut_line(struct step_bytes text, uint32_t *line)
{
    uint64_t number = 0, unit = 1;
    size_t at = text.length;
    *line = 0;
    for (; at > 0 && text.data[at - 1] >= '0' && text.data[at - 1] <= '9' && unit < 1000000000;
         at--, unit *= 10)
        number += unit * (uint64_t) (text.data[at - 1] - '0');
    if (at < 2 || at == text.length || text.data[at - 1] != ':' || text.data[at - 2] == ':')
        return text;
    *line = (uint32_t) number;
    return (struct step_bytes){text.data, at - 1};
}

static uint32_t recorded_calls_put_frame(struct recorded_calls *calls, struct trace_names *names,
                                         uint32_t parent, struct step_bytes text)
{
    bool is_new;
    uint32_t line;
    uint32_t id = trace_names_number(names, &calls->frames, parent, text, &is_new);
    if (!is_new)
        return id;
    struct trace_frame *frame = id_table_get(&names->frames, id);
    uint32_t method_id = trace_names_method(names, &calls->methods, 0, cut_line(text, &line));
    if (frame == NULL || method_id == 0)
        return 0;
    *frame =
        (struct trace_frame){.parent = parent, .method_id = method_id, .line = line, .known = true};
    return id;
}

/* Parses from the end of the text, where the outermost frame is. */
static uint32_t recorded_calls_put_stack(struct recorded_calls *calls, struct trace_names *names,
                                         struct step_bytes stack)
{
    uint32_t frame = 0;
    size_t end = stack.length;
    for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
        size_t start = end;
        while (start > 0 && stack.data[start - 1] != ';')
            start--;
        frame = recorded_calls_put_frame(calls, names, frame,
                                         (struct step_bytes){stack.data + start, end - start});
        if (frame == 0 || start == 0)
            break;
        end = start - 1;
    }
    return frame;
}

uint32_t recorded_calls_frame(struct recorded_calls *calls, struct trace_names *names,
                              struct step_bytes stack)
{
    bool is_new;
    make_ready(calls);
    uint32_t id = trace_names_number(names, &calls->texts, 0, stack, &is_new);
    uint32_t *frame = id != 0 ? id_table_get(&calls->stacks, id) : NULL;
    if (frame == NULL)
        return 0;
    if (is_new)
        *frame = recorded_calls_put_stack(calls, names, stack);
    return *frame;
}
