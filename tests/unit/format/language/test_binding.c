/* SPDX-License-Identifier: Apache-2.0 */
/* Generated C: its tables against the parser's, and reading records of other definitions. */
#include "tests/unit/format/language/language_test.h"

#include "sample_trace.h"

static void check_attributes(const struct step_attributes *a, const struct step_attributes *b)
{
    CU_ASSERT_EQUAL_FATAL(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        CU_ASSERT_STRING_EQUAL(a->items[i].group, b->items[i].group);
        CU_ASSERT_STRING_EQUAL(a->items[i].value, b->items[i].value);
    }
}

static void check_field(const struct step_field *a, const struct step_field *b)
{
    CU_ASSERT_STRING_EQUAL(a->name, b->name);
    CU_ASSERT_EQUAL(a->kind, b->kind);
    CU_ASSERT_TRUE(a->kind != STEP_TYPE_RECORD || a->record == b->record);
    CU_ASSERT_EQUAL(a->array_depth, b->array_depth);
    CU_ASSERT_EQUAL(a->declaring_record, b->declaring_record);
    CU_ASSERT_EQUAL(a->modified, b->modified);
    check_attributes(&a->attributes, &b->attributes);
    CU_ASSERT_EQUAL(a->sub_attribute_count, b->sub_attribute_count);
}

/* The text that is embedded in the tables makes the same tables. */
static void test_tables(void)
{
    const struct step_definition *made = &sample_trace_definition;
    struct step_definition *parsed = dl_parse_text(made->text, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(parsed);
    CU_ASSERT_EQUAL_FATAL(parsed->record_count, made->record_count);
    CU_ASSERT_EQUAL(made->record_count, ZOO_RECORD_COUNT);
    for (size_t i = 0; i < made->record_count; i++) {
        const struct step_record *a = &made->records[i], *b = &parsed->records[i];
        CU_ASSERT_STRING_EQUAL(a->name, b->name);
        CU_ASSERT_EQUAL(a->parent, b->parent);
        CU_ASSERT_EQUAL_FATAL(a->field_count, b->field_count);
        check_attributes(&a->attributes, &b->attributes);
        for (size_t j = 0; j < a->field_count; j++)
            check_field(&a->fields[j], &b->fields[j]);
    }
    CU_ASSERT_EQUAL(ZOO_HTTP_VISIT, step_definition_find(made, "zoo.HTTPVisit"));
    step_definition_destroy(parsed);
}

static const int32_t minus_three = -3;
static const uint64_t amounts[] = {5, 6};
static const struct step_array two = {amounts, 2};
static const struct step_bytes hay = {(const uint8_t *) "hay", 3};

static struct step_definition *bind(const char *text, struct sample_trace_binding *binding)
{
    struct step_definition *file = dl_parse_text(text, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(sample_trace_bind(file, binding, NULL), STEP_STATUS_OK);
    return file;
}

static void check_feeding(const struct zoo_feeding *feeding)
{
    CU_ASSERT_EQUAL(feeding->time, 100);
    CU_ASSERT_EQUAL(feeding->by, 7);
    CU_ASSERT_EQUAL(feeding->at.x, -3);
    CU_ASSERT_EQUAL(feeding->at.y, 9);
    CU_ASSERT_EQUAL(feeding->food.length, 3);
    CU_ASSERT_EQUAL(feeding->amounts.count, 2);
}

static void test_same_definition(void)
{
    struct sample_trace_binding binding;
    struct step_definition *file = bind(sample_trace_definition.text, &binding);
    const uint64_t slots[] = {100,
                              7,
                              (uint64_t) (int64_t) minus_three,
                              9,
                              step_slot_of_bytes(&hay),
                              step_slot_of_array(&two),
                              step_slot_of_bytes(&hay)};
    struct step_record_view view = {ZOO_FEEDING, slots};
    struct zoo_feeding feeding;
    struct zoo_event event;
    struct zoo_http_visit visit;
    CU_ASSERT_TRUE(zoo_feeding_get(&binding, &view, &feeding));
    check_feeding(&feeding);
    CU_ASSERT_TRUE(zoo_event_get(&binding, &view, &event));
    CU_ASSERT_EQUAL(event.time, 100);
    CU_ASSERT_FALSE(zoo_http_visit_get(&binding, &view, &visit));
    view.record = ZOO_NIGHT_FEEDING;
    CU_ASSERT_TRUE(zoo_feeding_get(&binding, &view, &feeding));
    check_feeding(&feeding);
    CU_ASSERT_EQUAL(sample_trace_record(&binding, ZOO_NIGHT_FEEDING), ZOO_NIGHT_FEEDING);
    sample_trace_unbind(&binding);
    step_definition_destroy(file);
}

/* A field more in front, fields in another order, a record between, a subtype that is new. */
static void test_newer_definition(void)
{
    static const char newer[] =
        "package zoo { record Stranger { int x; }"
        "record Point { int z, y, x; } record Keeper { int class; string name, title; }"
        "record Base { int version; } record Event extends Base { int time; }"
        "record Feeding extends Event { int[] amounts; Point at; string food, drink;"
        "  Keeper by <encoding:\"identifier\">; }"
        "record BirdFeeding extends Feeding { int birds; } }";
    struct sample_trace_binding binding;
    struct step_definition *file = bind(newer, &binding);
    uint32_t bird = step_definition_find(file, "zoo.BirdFeeding");
    const uint64_t slots[] = {2,
                              100,
                              step_slot_of_array(&two),
                              1,
                              9,
                              (uint64_t) (int64_t) minus_three,
                              step_slot_of_bytes(&hay),
                              step_slot_of_bytes(&hay),
                              7,
                              12};
    struct step_record_view view = {bird, slots};
    struct zoo_feeding feeding;
    struct zoo_event event;
    CU_ASSERT_EQUAL(sample_trace_record(&binding, bird), ZOO_FEEDING);
    CU_ASSERT_EQUAL(sample_trace_record(&binding, step_definition_find(file, "zoo.Stranger")), -1);
    CU_ASSERT_TRUE(zoo_feeding_get(&binding, &view, &feeding));
    check_feeding(&feeding);
    CU_ASSERT_TRUE(zoo_event_get(&binding, &view, &event));
    CU_ASSERT_EQUAL(event.time, 100);
    view.record = step_definition_find(file, "zoo.Stranger");
    CU_ASSERT_FALSE(zoo_event_get(&binding, &view, &event));
    sample_trace_unbind(&binding);
    step_definition_destroy(file);
}

/* What the file does not have, or has as something else, reads as nothing. */
static void test_older_definition(void)
{
    struct sample_trace_binding binding;
    struct step_definition *file = bind("package zoo { record Event { int time; }"
                                        "record Feeding extends Event { int food; string at; } }",
                                        &binding);
    const uint64_t slots[] = {100, 55, step_slot_of_bytes(&hay)};
    struct step_record_view view = {1, slots};
    struct zoo_feeding feeding;
    CU_ASSERT_TRUE(zoo_feeding_get(&binding, &view, &feeding));
    CU_ASSERT_EQUAL(feeding.time, 100);
    CU_ASSERT_EQUAL(feeding.by, 0);
    CU_ASSERT_EQUAL(feeding.at.x, 0);
    CU_ASSERT_EQUAL(feeding.food.length, 0);
    CU_ASSERT_EQUAL(feeding.amounts.count, 0);
    sample_trace_unbind(&binding);
    step_definition_destroy(file);
}

static void test_no_fields(void)
{
    struct sample_trace_binding binding;
    struct step_definition *file = bind(sample_trace_definition.text, &binding);
    struct step_record_view view = {ZOO_NOTHING, NULL};
    struct zoo_nothing nothing;
    struct zoo_keeper keeper;
    const uint64_t slots[] = {step_slot_of_bytes(&hay), 3};
    (void) zoo_nothing_get(&binding, &view, &nothing);
    view = (struct step_record_view){ZOO_KEEPER, slots};
    CU_ASSERT_TRUE(zoo_keeper_get(&binding, &view, &keeper));
    CU_ASSERT_EQUAL(keeper.class_, 3);
    sample_trace_unbind(&binding);
    step_definition_destroy(file);
}

/* A field that names another dictionary than the file's does is as if the file had none. */
static void test_other_dictionary(void)
{
    static const char newer[] =
        "package zoo { record Guard { string name; } record Keeper { string name; int class; }"
        "record Event { int time; }"
        "record Feeding extends Event { Guard by <encoding:\"identifier\">; string food; } }";
    struct sample_trace_binding binding;
    struct step_definition *file = bind(newer, &binding);
    const uint64_t slots[] = {100, 7, step_slot_of_bytes(&hay)};
    struct step_record_view view = {step_definition_find(file, "zoo.Feeding"), slots};
    struct zoo_feeding feeding;
    CU_ASSERT_TRUE(zoo_feeding_get(&binding, &view, &feeding));
    CU_ASSERT_EQUAL(feeding.by, 0);
    CU_ASSERT_EQUAL(feeding.food.length, 3);
    sample_trace_unbind(&binding);
    step_definition_destroy(file);
}

/* A variant is a view of the file's record: types that are added, removed or moved change nothing
 * for the others, and where the file has none it is no record. */
static void test_variants(void)
{
    static const char ours_text[] =
        "record P { int x; } record Q extends P { int y; }"
        "record M { int a; P v <encoding:\"type=variable\">; P w <encoding:\"type=variable\">; }";
    static const char file_text[] =
        "/* newer */ record S { int s; } record P { int z, x; } record R extends P { int r; }"
        "record Q extends P { int y; } record M { P v <encoding:\"type=variable\">; int a; }";
    struct step_definition *ours = dl_parse_text(ours_text, NULL, NULL);
    struct step_definition *file = dl_parse_text(file_text, NULL, NULL);
    struct step_binding *binding = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(ours);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(step_binding_create(file, ours, &binding, NULL), STEP_STATUS_OK);
    static const char *const types[] = {"P", "Q", "R"};
    const uint64_t inner[] = {5, 6, 7};
    uint64_t values[3];
    for (size_t i = 0; i < 3; i++) {
        const struct step_variant made = {step_definition_find(file, types[i]), inner};
        const uint64_t slots[] = {step_slot_of_variant(&made), 1};
        struct step_record_view view = {step_definition_find(file, "M"), slots};
        uint32_t m = step_definition_find(ours, "M"), p = step_definition_find(ours, "P");
        const uint64_t *got = step_binding_slots(binding, &view, m, 3, values);
        CU_ASSERT_PTR_NOT_NULL_FATAL(got);
        const struct step_variant *v = step_slot_variant(got[1]), *w = step_slot_variant(got[2]);
        struct step_record_view v_view = {v->record, v->slots}, w_view = {w->record, w->slots};
        uint64_t more[3];
        got = step_binding_slots(binding, &v_view, p, 1, more);
        CU_ASSERT_PTR_NOT_NULL_FATAL(got);
        CU_ASSERT_EQUAL(got[0], 6);
        CU_ASSERT_EQUAL(step_binding_record(binding, v->record),
                        i == 1 ? (int) step_definition_find(ours, "Q") : (int) p);
        CU_ASSERT_PTR_NULL(step_binding_slots(binding, &w_view, p, 1, more));
        CU_ASSERT_EQUAL(step_binding_record(binding, w->record), -1);
    }
    step_binding_destroy(binding);
    step_definition_destroy(ours);
    step_definition_destroy(file);
}

CU_pSuite dl_add_binding_suite(void)
{
    CU_pSuite suite = CU_add_suite("binding", NULL, NULL);
    CU_ADD_TEST(suite, test_tables);
    CU_ADD_TEST(suite, test_same_definition);
    CU_ADD_TEST(suite, test_newer_definition);
    CU_ADD_TEST(suite, test_older_definition);
    CU_ADD_TEST(suite, test_no_fields);
    CU_ADD_TEST(suite, test_variants);
    CU_ADD_TEST(suite, test_other_dictionary);
    return suite;
}
