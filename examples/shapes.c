/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads arrays, arrays of records, strings and trees of variants: shapes FILE. */
#include <inttypes.h>
#include <stdio.h>

#include "shapes_trace.h"

enum { CORNERS = 3 };

/* A group of a triangle, and of an empty group. */
static enum step_status write(struct step_writer *writer)
{
    uint64_t slots[CORNERS * SHAPES_POINT_SLOT_COUNT];
    for (int i = 0; i < CORNERS; i++) {
        struct shapes_point point = {.x = i, .y = -i * i};
        shapes_point_put_slots(&point, slots + i * SHAPES_POINT_SLOT_COUNT);
    }
    struct shapes_polygon triangle = {.name = step_text("triangle"), .corners = {slots, CORNERS}};
    struct shapes_group inner = {.name = step_text("nothing")};
    uint64_t triangle_slots[SHAPES_POLYGON_SLOT_COUNT], inner_slots[SHAPES_GROUP_SLOT_COUNT];
    shapes_polygon_put_slots(&triangle, triangle_slots);
    shapes_group_put_slots(&inner, inner_slots);
    struct step_variant first = {SHAPES_POLYGON, triangle_slots};
    struct step_variant second = {SHAPES_GROUP, inner_slots};
    uint64_t members[] = {step_slot_of_variant(&first), step_slot_of_variant(&second)};
    struct shapes_group group = {.name = step_text("both"), .members = {members, 2}};
    uint64_t group_slots[SHAPES_GROUP_SLOT_COUNT], colours[] = {0xff0000, 0x00ff00};
    shapes_group_put_slots(&group, group_slots);
    struct shapes_drawn drawn = {
        .time = 1, .what = {SHAPES_GROUP, group_slots}, .colours = {colours, 2}};
    return shapes_drawn_put(writer, 0, &drawn);
}

static void print(const struct shapes_trace_binding *binding, const struct step_variant *shape,
                  int depth)
{
    struct shapes_shape any;
    struct shapes_polygon polygon;
    struct shapes_group group;
    struct shapes_point point;
    if (!shapes_shape_get_variant(binding, shape, &any))
        return; /* none */
    printf("%*s%.*s", 2 * depth, "", (int) any.name.length, (const char *) any.name.data);
    if (shapes_polygon_get_variant(binding, shape, &polygon))
        for (size_t i = 0; shapes_point_get_element(&polygon.corners, i, &point); i++)
            printf(" (%" PRId64 ",%" PRId64 ")", point.x, point.y);
    printf("\n");
    if (shapes_group_get_variant(binding, shape, &group))
        for (size_t i = 0; i < group.members.count; i++)
            print(binding, step_slot_variant(group.members.slots[i]), depth + 1);
}

static enum step_status read(const char *path, struct step_error *error)
{
    struct shapes_trace_reader reader;
    struct step_record_view view;
    struct shapes_drawn drawn;
    enum step_status status = shapes_trace_open(path, &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    while ((status = shapes_trace_next(&reader, &view, error)) == STEP_STATUS_OK) {
        if (!shapes_drawn_get(&reader.binding, &view, &drawn))
            continue;
        printf("at %" PRId64 ", colours", (int64_t) drawn.time);
        for (size_t i = 0; i < drawn.colours.count; i++)
            printf(" %06" PRIx64, drawn.colours.slots[i]);
        printf("\n");
        print(&reader.binding, &drawn.what, 1);
    }
    shapes_trace_close(&reader);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

int main(int argc, char **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_writer *writer = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: shapes FILE\n");
        return 2;
    }
    enum step_status status = shapes_trace_create(argv[1], &writer, &error);
    if (status == STEP_STATUS_OK) {
        write(writer);
        status = step_writer_close(writer, &error); /* tells of every fault before it */
        step_writer_destroy(writer);
    }
    if (status == STEP_STATUS_OK)
        status = read(argv[1], &error);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "shapes: %s\n", error.message);
    return status == STEP_STATUS_OK ? 0 : 1;
}
