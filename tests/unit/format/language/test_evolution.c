/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated readers and files of other definitions, in both layouts: records, fields and entries
 * that one of the two does not know.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/format/language/language_test.h"

#include "sample_trace.h"

enum { RECORDS = 600, MOST_SLOTS = 10 };

/* A definition of the zoo, and where its Feeding has what the reader knows; -1: nowhere. */
static const struct evolution {
    const char *text;
    int time, by, x, food, amounts;
    const char *stranger; /* a record that the reader does not know; NULL: none */
    bool stranger_is_event;
} evolutions[] = {
    /* as the reader's */
    {NULL, 0, 1, 2, 4, 5, NULL, false},
    /* a record that the reader does not know, alone and extending one that it knows */
    {"package zoo { record Keeper { string name; int class; } record Point { int x, y; }"
     "record Event { int time <property:\"time\"> <encoding:\"delta\">; }"
     "record Stranger { string s; int z; int[] more; }"
     "record Feeding extends Event { Keeper by <encoding:\"identifier\">; Point at; string food;"
     "  int[] amounts; } }",
     0, 1, 2, 4, 5, "zoo.Stranger", false},
    {"package zoo { record Keeper { string name; int class; } record Point { int x, y; }"
     "record Event { int time <property:\"time\"> <encoding:\"delta\">; }"
     "record Birth extends Event { string name <encoding:\"identifier,prefix\">; int weight; }"
     "record Feeding extends Event { Keeper by <encoding:\"identifier\">; Point at; string food;"
     "  int[] amounts; } }",
     0, 1, 2, 4, 5, "zoo.Birth", true},
    /* fields that the reader does not know, before, between and within the others */
    {"package zoo { record Keeper { int age; string name; int class; } record Point { int z, x, y; "
     "}"
     "record Event { int zone <encoding:\"default\">;"
     "  int time <property:\"time\"> <encoding:\"delta\">; }"
     "record Feeding extends Event { string drink; Keeper by <encoding:\"identifier\">; Point at;"
     "  string food; int[] amounts; } }",
     1, 3, 5, 7, 8, NULL, false},
    /* fields that the file does not have */
    {"package zoo { record Keeper { int class; }"
     "record Event { int time <property:\"time\"> <encoding:\"delta\">; }"
     "record Feeding extends Event { string food; } }",
     0, -1, -1, 1, -1, NULL, false},
    /* the file has neither the record's fields nor its parent */
    {"package zoo { record Feeding { int time; int[] amounts; } }", 0, -1, -1, -1, 1, NULL, false},
};

static const uint64_t amounts[] = {5, 6};
static const struct step_array two = {amounts, 2};
static const struct step_array none = {NULL, 0};
static const struct step_bytes hay = {(const uint8_t *) "hay", 3};

/* Slots that are not at one of our places: something that is no fault as what it is. */
static void fill_slots(const struct step_definition *definition, uint32_t record, uint64_t *slots)
{
    const struct step_record *type = &definition->records[record];
    size_t at = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        if (step_field_is_nested(field))
            for (size_t k = step_record_slot_count(definition, field->record); k > 0; k--)
                slots[at++] = 77;
        else if (field->array_depth > 0)
            slots[at++] = step_slot_of_array(&none);
        else if (field->kind == STEP_TYPE_STRING)
            slots[at++] = step_slot_of_bytes(&hay);
        else
            slots[at++] = 1;
    }
}

static void put_slot(uint64_t *slots, int place, uint64_t value)
{
    if (place >= 0)
        slots[place] = value;
}

static void write_zoo(const struct evolution *evolution, const struct step_definition *definition,
                      const char *path, enum step_write_layout layout)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    uint64_t slots[MOST_SLOTS] = {0};
    uint64_t id;
    step_writer_options_init(&options);
    options.definition = definition;
    options.layout = layout;
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &writer, NULL), STEP_STATUS_OK);
    uint32_t keeper = step_definition_find(definition, "zoo.Keeper");
    uint32_t feeding = step_definition_find(definition, "zoo.Feeding");
    for (uint64_t i = 0; keeper != STEP_NO_RECORD && i < 7; i++) {
        fill_slots(definition, keeper, slots);
        slots[step_record_slot_count(definition, keeper) - 1] = 100 + i; /* the class */
        CU_ASSERT_EQUAL(step_writer_define(writer, keeper, slots, &id), STEP_STATUS_OK);
    }
    for (uint64_t i = 0; i < RECORDS; i++) {
        if (evolution->stranger != NULL && i % 3 == 1) {
            uint32_t stranger = step_definition_find(definition, evolution->stranger);
            fill_slots(definition, stranger, slots);
            put_slot(slots, evolution->stranger_is_event ? 0 : -1, 1000 + i);
            CU_ASSERT_EQUAL(step_writer_put(writer, 0, stranger, slots), STEP_STATUS_OK);
            continue;
        }
        fill_slots(definition, feeding, slots);
        put_slot(slots, evolution->time, 1000 + i);
        put_slot(slots, evolution->by, 1 + i % 7);
        put_slot(slots, evolution->x, 0 - i);
        put_slot(slots, evolution->amounts, step_slot_of_array(i % 2 == 0 ? &two : &none));
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, feeding, slots), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
}

static void check_feeding(const struct evolution *evolution,
                          const struct sample_trace_reader *reader,
                          const struct zoo_feeding *feeding, uint64_t i)
{
    struct zoo_keeper keeper;
    CU_ASSERT_EQUAL(feeding->time, 1000 + i);
    CU_ASSERT_EQUAL(feeding->by, evolution->by >= 0 ? 1 + i % 7 : UINT64_C(0));
    CU_ASSERT_EQUAL(feeding->at.x, evolution->x >= 0 ? -(int64_t) i : 0);
    CU_ASSERT_EQUAL(feeding->food.length, evolution->food >= 0 ? 3u : 0u);
    CU_ASSERT_EQUAL(feeding->amounts.count, evolution->amounts >= 0 && i % 2 == 0 ? 2u : 0u);
    if (feeding->by == 0)
        return;
    CU_ASSERT(zoo_keeper_look_up(&reader->binding, reader->file, feeding->by, &keeper));
    CU_ASSERT_EQUAL(keeper.class_, (int64_t) (100 + i % 7));
    CU_ASSERT_EQUAL(keeper.name.length, 3);
}

static void read_zoo(const struct evolution *evolution, const char *path)
{
    struct sample_trace_reader reader;
    struct step_record_view view;
    CU_ASSERT_EQUAL_FATAL(sample_trace_open(path, &reader, NULL), STEP_STATUS_OK);
    uint64_t i = 0;
    for (; sample_trace_next(&reader, &view, NULL) == STEP_STATUS_OK; i++) {
        struct zoo_feeding feeding;
        struct zoo_event event;
        bool strange = evolution->stranger != NULL && i % 3 == 1;
        int known = sample_trace_record(&reader.binding, view.record);
        CU_ASSERT_EQUAL(known, !strange                       ? ZOO_FEEDING
                               : evolution->stranger_is_event ? ZOO_EVENT
                                                              : -1);
        CU_ASSERT_EQUAL_FATAL(zoo_feeding_get(&reader.binding, &view, &feeding), !strange);
        if (!strange) {
            check_feeding(evolution, &reader, &feeding, i);
            continue;
        }
        CU_ASSERT_EQUAL(zoo_event_get(&reader.binding, &view, &event),
                        evolution->stranger_is_event);
        CU_ASSERT(!evolution->stranger_is_event || event.time == 1000 + i);
    }
    CU_ASSERT_EQUAL(i, RECORDS);
    CU_ASSERT_EQUAL(step_reader_damage_count(reader.file), 0);
    sample_trace_close(&reader);
}

static void test_evolutions(void)
{
    static const enum step_write_layout layouts[] = {STEP_WRITE_ROWS, STEP_WRITE_COLUMNS};
    char path[] = "evolution-XXXXXX";
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    close(file);
    for (size_t e = 0; e < sizeof evolutions / sizeof evolutions[0]; e++) {
        const struct evolution *evolution = &evolutions[e];
        struct step_definition *definition = dl_parse_text(
            evolution->text != NULL ? evolution->text : sample_trace_definition.text, NULL, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
        for (size_t k = 0; k < 2; k++) {
            write_zoo(evolution, definition, path, layouts[k]);
            read_zoo(evolution, path);
        }
        step_definition_destroy(definition);
    }
    unlink(path);
}

CU_pSuite dl_add_evolution_suite(void)
{
    CU_pSuite suite = CU_add_suite("evolution", NULL, NULL);
    CU_ADD_TEST(suite, test_evolutions);
    return suite;
}
