/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the StackMapTable: its frames at their new places, and those of guards, trampolines and
 * the unwinding handler. */
#include <stdlib.h>

#include "agent/rewriter/stack_map.h"

/* ---- a StackMapTable with additional frames for trampolines and guards ----
 * Most frames encode the difference from the previous one, so none can be inserted; here all are
 * written in full. Only methods over 32 KiB get trampolines, and those with exception handlers
 * guards. */

#define TYPES_LIMIT ((uint32_t) 1 << 22) /* limit of locals in all frames of a method */

struct full_frame {
    uint32_t offset, place; /* old and new place */
    const uint8_t **locals; /* the bytes of each type */
    const uint8_t *stack;
    const uint8_t *unset; /* NULL: all strict fields of the class, or none */
    uint32_t local_count, stack_count;
    bool is_early; /* `this` is uninitialised */
    bool is_guard; /* its stack has a throwable of any class */
};

struct frame_list {
    struct method_code *method;
    struct full_frame *frames;
    uint32_t count, taken;  /* taken: locals of all frames */
    const uint8_t **locals; /* after the last frame */
    const uint8_t *unset;   /* in the last frame */
    uint32_t local_count, room;
};

static bool add_local(struct frame_list *list, const uint8_t *type)
{
    if (list->local_count == list->room)
        return method_leave(list->method, "its stack map has too many variables");
    list->locals[list->local_count++] = type;
    return true;
}

/* Adds the type of a parameter, which the file does not contain. */
static bool add_initial(struct frame_list *list, uint8_t tag, uint32_t class_index)
{
    uint8_t *type = step_arena_take(&list->method->file->arena, 3, 1);
    if (type == NULL)
        return method_no_memory(list->method);
    type[0] = tag;
    store_u2(type + 1, class_index);
    return add_local(list, type);
}

static bool stack_map_add_object(struct frame_list *list, struct class_text name)
{
    uint32_t index = pool_class(list->method->file, name);
    return index != 0 && add_initial(list, 7, index);
}

/* Adds the parameter at text[*i], and advances *i. */
static bool add_parameter(struct frame_list *list, struct class_text text, size_t *i)
{
    size_t start = *i;
    uint32_t kind = type_next(text, i);
    if (kind == 0)
        return method_malformed(list->method, 0, "an invalid method descriptor");
    if (kind == '[')
        return stack_map_add_object(list, (struct class_text){text.bytes + start, *i - start});
    if (kind == 'L')
        return stack_map_add_object(list,
                                    (struct class_text){text.bytes + start + 1, *i - start - 2});
    return add_initial(list, kind == 'J' ? 4 : kind == 'D' ? 3 : kind == 'F' ? 2 : 1, 0);
}

/* Adds the variables at the start of the method. */
static bool add_parameters(struct frame_list *list)
{
    struct method_code *method = list->method;
    struct class_text text = method->self.descriptor;
    size_t i = 1;
    if ((method->access & ACCESS_STATIC) == 0 &&
        !add_initial(list, method->constructor ? 6 : 7, method->file->this_class))
        return false;
    while (i < text.length && text.bytes[i] != ')') {
        if (!add_parameter(list, text, &i))
            return false;
    }
    return true;
}

/* Applies a frame to the variables of the previous one. */
static bool apply(struct frame_list *list, const struct map_frame *frame)
{
    const uint8_t *type = frame->locals;
    if (frame->kind == FRAME_FULL)
        list->local_count = 0;
    if (frame->kind >= FRAME_CHOP_3 && frame->kind < FRAME_SAME) {
        uint32_t gone = FRAME_SAME - frame->kind;
        if (gone > list->local_count)
            return method_malformed(list->method, 0, "an invalid frame in the stack map");
        list->local_count -= gone;
    }
    for (uint32_t i = 0; i < frame->local_count; i++) {
        if (!add_local(list, type))
            return false;
        type += type[0] >= 7 ? 3 : 1;
    }
    return true;
}

/* Returns true if one of the types is an uninitialised `this`. */
static bool has_early_this(const struct frame_list *list, const struct map_frame *frame)
{
    const uint8_t *type = frame->stack;
    for (uint32_t i = 0; i < list->local_count; i++)
        if (list->locals[i][0] == TYPE_EARLY_THIS)
            return true;
    for (uint32_t i = 0; i < frame->stack_count; i++) {
        if (type[0] == TYPE_EARLY_THIS)
            return true;
        type += type[0] >= 7 ? 3 : 1;
    }
    return false;
}

static bool add_frame(struct frame_list *list, const struct map_frame *frame)
{
    struct method_code *method = list->method;
    struct full_frame *full = &list->frames[list->count];
    if (!apply(list, frame))
        return false;
    list->taken += list->local_count;
    if (list->taken > TYPES_LIMIT)
        return method_leave(method, "its stack map has too many variables");
    bool is_early = has_early_this(list, frame);
    list->unset = !is_early ? NULL : frame->unset != NULL ? frame->unset : list->unset;
    size_t bytes = list->local_count * sizeof *full->locals;
    *full = (struct full_frame){.offset = frame->offset,
                                .place = method->map[frame->offset],
                                .locals = step_arena_take(&method->file->arena, bytes, 1),
                                .stack = frame->stack,
                                .unset = list->unset,
                                .is_early = is_early,
                                .local_count = list->local_count,
                                .stack_count = frame->stack_count};
    if (full->locals == NULL)
        return method_no_memory(method);
    memcpy(full->locals, list->locals, bytes);
    list->count++;
    return true;
}

static bool add_frames(struct frame_list *list)
{
    struct map_reader reader;
    struct map_frame frame;
    if (!map_reader_open(&reader, list->method))
        return map_reader_fault(&reader, list->method);
    while (map_reader_next(&reader, &frame)) {
        if ((list->method->marks[frame.offset] & MARK_START) == 0)
            return map_reader_fault(&reader, list->method);
        if (!add_frame(list, &frame))
            return false;
    }
    return list->count == load_u2(list->method->frames) || map_reader_fault(&reader, list->method);
}

static int compare_offset(const void *key, const void *element)
{
    uint32_t offset = *(const uint32_t *) key;
    const struct full_frame *frame = element;
    return (offset > frame->offset) - (offset < frame->offset);
}

/* Adds a frame for each trampoline. Requires the file's frames in the order of their offsets. Every
 * target of a jump has a frame in a valid class file; one that is missing is a fault of the
 * file. */
static bool add_trampolines(struct frame_list *list, uint32_t file_count)
{
    struct method_code *method = list->method;
    for (uint32_t i = 0; i < method->trampoline_count; i++) {
        const struct trampoline *trampoline = &method->trampolines[i];
        const struct full_frame *target =
            bsearch(&trampoline->target, list->frames, file_count, sizeof *target, compare_offset);
        if (target == NULL)
            return method_malformed(method, trampoline->jump, "the target of a jump has no frame");
        list->frames[list->count] = *target; /* of the file: no guard */
        list->frames[list->count++].place = trampoline->position;
    }
    return true;
}

static uint32_t type_slots(const uint8_t *type)
{
    return type[0] == 3 || type[0] == 4 ? 2 : 1; /* double, long */
}

/* Adds the frame of a handler with its exception in the guard's variable. That variable is behind
 * max_locals, so the slots between the handler's last variable and it are filled with top, the type
 * of what is unusable. A long or a double takes two slots and is one entry of a frame, hence
 * type_slots(). */
static bool add_guard(struct frame_list *list, const struct full_frame *handler)
{
    static const uint8_t top[1] = {0};
    struct method_code *method = list->method;
    struct guard guard = caught_guard(method, handler->offset);
    uint32_t slots = 0;
    for (uint32_t i = 0; i < handler->local_count; i++)
        slots += type_slots(handler->locals[i]);
    if (handler->stack_count != 1 || slots > guard.variable)
        return method_malformed(method, handler->offset,
                                "an exception handler with an unexpected frame");
    uint32_t count = handler->local_count + guard.variable - slots;
    list->taken += count + 1;
    if (list->taken > TYPES_LIMIT)
        return method_leave(method, "its stack map has too many variables");
    struct full_frame *frame = &list->frames[list->count++];
    *frame = *handler;
    frame->place = guard_handler(method, guard);
    frame->local_count = count + 1;
    frame->is_guard = true;
    frame->locals = step_arena_take(&method->file->arena, count + 1, sizeof *frame->locals);
    if (frame->locals == NULL)
        return method_no_memory(method);
    for (uint32_t i = 0; i < count; i++)
        frame->locals[i] = i < handler->local_count ? handler->locals[i] : top;
    frame->locals[count] = handler->stack;
    return true;
}

static bool add_guards(struct frame_list *list, uint32_t file_count)
{
    for (uint32_t i = 0; i < file_count; i++) {
        if ((list->method->marks[list->frames[i].offset] & MARK_CAUGHT) != 0 &&
            !add_guard(list, &list->frames[i]))
            return false;
    }
    return true;
}

static int compare_place(const void *left, const void *right)
{
    const struct full_frame *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static void stack_map_put_types(struct method_code *method, const uint8_t *types, uint32_t count)
{
    struct class_output *output = &method->file->output;
    for (; count > 0; count--) {
        uint32_t size = types[0] >= TYPE_OBJECT ? 3 : 1;
        put_bytes(output, types, size);
        if (types[0] == TYPE_UNINITIALIZED) {
            uint32_t offset = load_u2(types + 1);
            if (offset >= method->length || (method->marks[offset] & MARK_START) == 0)
                class_malformed(method->file, types, "an uninitialised type without a `new`");
            else
                patch_u2(output, output->used - 2, instruction_place(method, offset));
        }
        types += size;
    }
}

/* Writes a list of throwables, of its variables or on its stack. */
static void put_throwables(struct method_code *method, uint32_t count)
{
    struct class_output *output = &method->file->output;
    put_u2(output, count);
    for (; count > 0; count--) {
        put_u1(output, TYPE_OBJECT);
        put_u2(output, pool_throwable(method->file));
    }
}

static void put_unset(struct class_output *output, const uint8_t *unset)
{
    if (unset == NULL)
        return;
    put_u1(output, FRAME_EARLY_LARVAL);
    put_bytes(output, unset, 2 + 2 * (size_t) load_u2(unset));
}

static void stack_map_put_head(struct class_output *output, uint32_t kind, uint32_t delta)
{
    if (delta < 64 && (kind == FRAME_SAME || kind == FRAME_ONE_STACK)) {
        put_u1(output, delta + (kind == FRAME_ONE_STACK ? 64 : 0));
        return;
    }
    put_u1(output, kind);
    put_u2(output, delta);
}

static void put_full(struct method_code *method, const struct full_frame *frame, uint32_t delta)
{
    struct class_output *output = &method->file->output;
    put_unset(output, frame->unset);
    stack_map_put_head(output, FRAME_FULL, delta);
    put_u2(output, frame->local_count);
    for (uint32_t i = 0; i < frame->local_count; i++)
        stack_map_put_types(method, frame->locals[i], 1);
    if (frame->is_guard) {
        put_throwables(method, 1);
    } else {
        put_u2(output, frame->stack_count);
        stack_map_put_types(method, frame->stack, frame->stack_count);
    }
}

/* Returns true if the lists of strict fields mean the same in the new order. A frame without a list
 * inherits the previous frame's: no list may precede frames in which all strict fields are still
 * unset. */
static bool unset_is_inherited(const struct frame_list *list)
{
    bool listed = false;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->frames[i].is_early && list->frames[i].unset == NULL && listed)
            return false;
        listed = listed || list->frames[i].unset != NULL;
    }
    return true;
}

/* Writes all frames in full, in order, with a copy of its target's frame for each trampoline and
 * one for the guard of each handler's probe. *next is the place of the last frame plus one, or 0;
 * *count is the number of frames. */
static bool frame_list_put(struct method_code *method, uint32_t *next, uint32_t *count)
{
    struct step_arena *arena = &method->file->arena;
    uint32_t file_count = load_u2(method->frames);
    uint32_t most = file_count * (1 + method->catches) + method->trampoline_count;
    struct frame_list list = {.method = method, .room = method->max_locals + 1};
    list.frames = step_arena_take(arena, most, sizeof *list.frames);
    list.locals = step_arena_take(arena, list.room, sizeof *list.locals);
    if (list.frames == NULL || list.locals == NULL)
        return method_no_memory(method);
    if (!add_parameters(&list) || !add_frames(&list) || !add_guards(&list, file_count) ||
        !add_trampolines(&list, file_count))
        return false;
    *count = list.count;
    qsort(list.frames, list.count, sizeof *list.frames, compare_place);
    if (!unset_is_inherited(&list))
        return method_leave(method,
                            "its stack map would have lists of strict fields in another order");
    for (uint32_t i = 0; i < list.count; i++) {
        put_full(method, &list.frames[i], list.frames[i].place - *next);
        *next = list.frames[i].place + 1;
    }
    return true;
}

static void stack_map_put_frame(struct method_code *method, const struct map_frame *frame,
                                uint32_t delta)
{
    struct class_output *output = &method->file->output;
    put_unset(output, frame->unset);
    stack_map_put_head(output, frame->kind, delta);
    if (frame->kind == FRAME_FULL)
        put_u2(output, frame->local_count);
    stack_map_put_types(method, frame->locals, frame->local_count);
    if (frame->kind == FRAME_FULL)
        put_u2(output, frame->stack_count);
    stack_map_put_types(method, frame->stack, frame->stack_count);
}

/* Writes the frames as they are, each at its new place. *next: the last one's plus one. */
static bool stack_map_put_frames(struct method_code *method, uint32_t *next)
{
    struct map_reader reader;
    struct map_frame frame;
    if (!map_reader_open(&reader, method))
        return map_reader_fault(&reader, method);
    while (map_reader_next(&reader, &frame)) {
        if ((method->marks[frame.offset] & MARK_START) == 0)
            return map_reader_fault(&reader, method);
        uint32_t place = method->map[frame.offset];
        stack_map_put_frame(method, &frame, place - *next);
        *next = place + 1;
    }
    return map_reader_done(&reader) || map_reader_fault(&reader, method);
}

/* The handler's frame has no local variables and the exception on its stack. Its guard's frame has
 * that in a variable, and another exception on the stack. */
static void put_handler_frames(struct method_code *method, uint32_t next)
{
    struct class_output *output = &method->file->output;
    uint32_t guard = guard_handler(method, unwind_guard(method));
    stack_map_put_head(output, FRAME_FULL, method->handler - next);
    put_throwables(method, 0);
    put_throwables(method, 1);
    stack_map_put_head(output, FRAME_FULL, guard - method->handler - 1);
    put_throwables(method, 1);
    put_throwables(method, 1);
}

/* Writes the StackMapTable. The verifier wants a frame at each place that is reached by a jump or
 * as a handler, with the types of all variables and of the stack. The rewriter does not compute
 * types: it keeps the frames of the file and moves them. That is possible because probes leave
 * variables and stack as they found them, and no place of the old code gets a new way in. New
 * places need new frames:
 *
 * - The unwinding handler and its guard use no variables of the method, so their frames list none,
 *   whatever the method's are. For this reason the handler keeps its exception in variable 0.
 * - A guard of caught() has the frame of its handler, and the exception in one more variable behind
 *   all others.
 * - A trampoline has a copy of the frame of its target: the jump would have had to satisfy that
 *   anyway.
 *
 * Without the latter two each frame can be copied as it is, with another distance. With them the
 * frames are written in full, because short forms describe the difference from the frame before,
 * which is another one once a frame is inserted. */
bool stack_map_put(struct method_code *method)
{
    struct class_output *output = &method->file->output;
    uint32_t count = method->frames != NULL ? load_u2(method->frames) : 0, next = 0;
    size_t place = output->used;
    put_u2(output, method->frames_name);
    put_u4(output, 0);
    put_u2(output, 0);
    if (method->frames != NULL && (method->trampoline_count > 0 || method->catches)) {
        if (!frame_list_put(method, &next, &count))
            return false;
    } else if (method->frames != NULL && !stack_map_put_frames(method, &next)) {
        return false;
    }
    if (has_unwinding(method))
        put_handler_frames(method, next);
    count += has_unwinding(method) ? 2 : 0;
    if (count > 0xFFFF)
        return method_leave(method, "its stack map would be too long");
    patch_u2(output, place + 6, count);
    patch_u4(output, place + 2, (uint32_t) (output->used - place - 6));
    return method->file->result <= REWRITE_UNCHANGED;
}
