/* SPDX-License-Identifier: Apache-2.0 */
/* What maps make of records, and which are at fault. */
#include <stdio.h>

#include "steptrace/maps.h"
#include "tests/formats/step/records_test.h"

static const char definition_text[] =
    "package lib { record Event { int time; }"
    " record Alloc extends Event { int size; string kind; Place at; int flag; int[] more; } }"
    "record Place { int line; string file; }"
    "package lib { record Small extends Event { int size; } }"
    "package mine {"
    " record Source { <map:\"to=lib.Alloc, size=bytes , flag=-3,at=place,kind=place.file\">"
    "   int bytes; int time; Place place; int[] more; int kind; }"
    " record Derived extends Source { int extra; }"
    " record Bare extends !Source { int other; }"
    " record Twice extends Source { <map:\"to=lib.Alloc,flag=0x10\"> "
    "<map:\"to=Local,n=place.line\"> }"
    " record Local { int n; int bytes; } }";

struct maps_of {
    struct step_definition *definition;
    struct step_maps *maps;
    uint32_t alloc, source, derived, bare, twice, local, event;
};

static struct maps_of make(void)
{
    struct maps_of of = {.definition = parse(definition_text)};
    CU_ASSERT_EQUAL_FATAL(step_maps_create(of.definition, NULL, NULL, &of.maps, NULL),
                          STEP_STATUS_OK);
    of.alloc = step_definition_find(of.definition, "lib.Alloc");
    of.event = step_definition_find(of.definition, "lib.Event");
    of.source = step_definition_find(of.definition, "mine.Source");
    of.derived = step_definition_find(of.definition, "mine.Derived");
    of.bare = step_definition_find(of.definition, "mine.Bare");
    of.twice = step_definition_find(of.definition, "mine.Twice");
    of.local = step_definition_find(of.definition, "mine.Local");
    return of;
}

static void drop(struct maps_of *of)
{
    step_maps_destroy(of->maps);
    step_definition_destroy(of->definition);
}

static void test_targets(void)
{
    struct maps_of of = make();
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.source, of.source), of.source);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.derived, of.source), of.derived);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.source, of.alloc), of.alloc);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.source, of.event), of.alloc);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.derived, of.alloc), of.alloc);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.bare, of.alloc), STEP_NO_RECORD);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.source, of.local), STEP_NO_RECORD);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.twice, of.local), of.local);
    CU_ASSERT_EQUAL(step_maps_target(of.maps, of.alloc, of.source), STEP_NO_RECORD);
    drop(&of);
}

/* bytes, time, place.line, place.file, more, kind, extra */
static const struct step_bytes file_name = {(const uint8_t *) "a.c", 3};
static const uint64_t elements[] = {7, 8};
static const struct step_array more = {elements, 2};

static void test_values(void)
{
    struct maps_of of = make();
    const uint64_t slots[] = {
        64, 1000, 12, step_slot_of_bytes(&file_name), step_slot_of_array(&more), 99, 5};
    struct step_record_view view = {of.derived, slots}, out;
    CU_ASSERT_TRUE_FATAL(step_maps_convert(of.maps, &view, of.event, &out));
    CU_ASSERT_EQUAL_FATAL(out.record, of.alloc);
    /* time, size, kind, at.line, at.file, flag, more */
    CU_ASSERT_EQUAL(out.slots[0], 1000);
    CU_ASSERT_EQUAL(out.slots[1], 64);
    CU_ASSERT_EQUAL(out.slots[2], slots[3]);
    CU_ASSERT_EQUAL(out.slots[3], 12);
    CU_ASSERT_EQUAL(out.slots[4], slots[3]);
    CU_ASSERT_EQUAL((int64_t) out.slots[5], -3);
    CU_ASSERT_EQUAL(out.slots[6], slots[4]);
    /* the later map of the same target counts; what it does not name is empty, or of the same name
     */
    view.record = of.twice;
    CU_ASSERT_TRUE_FATAL(step_maps_convert(of.maps, &view, of.alloc, &out));
    CU_ASSERT_EQUAL(out.slots[1], 0);
    CU_ASSERT_EQUAL(out.slots[5], 16);
    CU_ASSERT_EQUAL(step_slot_bytes(out.slots[2])->length, 0);
    CU_ASSERT_TRUE_FATAL(step_maps_convert(of.maps, &view, of.local, &out));
    CU_ASSERT_EQUAL(out.slots[0], 12);
    CU_ASSERT_EQUAL(out.slots[1], 64);
    view.record = of.bare;
    CU_ASSERT_FALSE(step_maps_convert(of.maps, &view, of.alloc, &out));
    drop(&of);
}

struct reported {
    size_t count;
    char last[200];
};

static void note(void *user, const char *record, const struct step_attribute *attribute,
                 const char *message)
{
    struct reported *reported = user;
    reported->count++;
    CU_ASSERT_STRING_EQUAL(record, "A");
    CU_ASSERT_EQUAL(attribute->line, 1);
    snprintf(reported->last, sizeof reported->last, "%s", message);
}

static void check_fault(const char *map, const char *message)
{
    char text[400];
    struct step_maps *maps;
    struct reported reported = {.count = 0};
    snprintf(
        text, sizeof text,
        "record A { <map:\"%s\"> int x; string s; B b; B[] bs; B i <encoding:\"identifier\">; }"
        "\nrecord B { int y; string t; int[] z; }",
        map);
    struct step_definition *definition = parse(text);
    CU_ASSERT_EQUAL_FATAL(step_maps_create(definition, note, &reported, &maps, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(reported.count, message != NULL);
    if (message != NULL)
        CU_ASSERT_STRING_EQUAL(reported.last, message);
    CU_ASSERT_EQUAL(step_maps_target(maps, 0, 1), message == NULL ? 1 : STEP_NO_RECORD);
    step_maps_destroy(maps);
    step_definition_destroy(definition);
}

static void test_faults(void)
{
    check_fault("to=B", NULL);
    check_fault("to=B,y=b.y,t=s,z=b.z", NULL);
    check_fault("to=B,,y=0xff", NULL);
    check_fault("y=x", "there is no 'to=RECORD'");
    check_fault("to=C", "there is no record 'C'");
    check_fault("to=B,q=x", "'B' has no field 'q'");
    check_fault("to=B,y=q", "'A' has no field 'q'");
    check_fault("to=B,y=s", "'s' is not of the type of 'y'");
    check_fault("to=B,y=i.y", "'A' has no field 'i.y'");
    check_fault("to=B,y=bs.y", "'A' has no field 'bs.y'");
    check_fault("to=B,t=4", "'t' is not an int");
    check_fault("to=B,z=4", "'z' is not an int");
    check_fault("to=B,y", "'y' is not FIELD=SOURCE");
}

CU_pSuite records_add_maps_suite(void)
{
    CU_pSuite suite = CU_add_suite("maps", NULL, NULL);
    CU_ADD_TEST(suite, test_targets);
    CU_ADD_TEST(suite, test_values);
    CU_ADD_TEST(suite, test_faults);
    return suite;
}
