/* SPDX-License-Identifier: Apache-2.0 */
/* What the constructs of STEP-DL mean. */
#include "tests/unit/format/language/language_test.h"

#define ATTRIBUTES(list) dl_attributes(list, text, sizeof text)

/* The STEP paper's figure 2, as printed. */
static const char figure_2[] = "record JVMPI_Event\n"
                               "{\n"
                               "  <property:\"event\">\n\n"
                               "  int envId <property:\"address\">\n"
                               "    <encoding:\"size=4,default\">;\n\n"
                               "  // ~envId <encoding:\"identifier\">;\n"
                               "}\n\n"
                               "record OBJECT_ALLOC extends JVMPI_Event\n"
                               "{\n"
                               "  int arenaId <property:\"address\">\n"
                               "    <encoding:\"size=4,identifier\">;\n"
                               "  // -> there should be a limited (small)\n"
                               "  // number of these\n\n"
                               "  int classId <property:\"address\">\n"
                               "    <encoding:\"size=4,identifier\">;\n"
                               "  // -> clearly an ID\n\n"
                               "  int isArray <property:\"unsigned\">\n"
                               "    <encoding:\"size=1\">;\n"
                               "  // -> T/F only needs 1 byte\n\n"
                               "  int size <property:\"unsigned\">;\n\n"
                               "  int objId <property:\"address\">\n"
                               "    <encoding:\"size=4,delta=32768\">;\n"
                               "  // -> assume allocated address is within\n"
                               "  // +/-32768 of last\n"
                               "}\n";

static void test_figure_2(void)
{
    char text[200];
    struct step_definition *definition = dl_parse_text(figure_2, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL(definition->record_count, 2);
    const struct step_record *alloc = dl_record(definition, "OBJECT_ALLOC");
    CU_ASSERT_EQUAL(alloc->field_count, 6);
    CU_ASSERT_STRING_EQUAL(alloc->fields[0].name, "envId");
    CU_ASSERT_EQUAL(alloc->fields[0].declaring_record, 0);
    CU_ASSERT_FALSE(alloc->fields[0].modified);
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&alloc->attributes), "property=event;");
    const char *value;
    size_t length;
    CU_ASSERT_TRUE(step_attributes_rule(&dl_field(definition, "OBJECT_ALLOC", "objId")->attributes,
                                        "encoding", "delta", &value, &length));
    CU_ASSERT_EQUAL(length, 5);
    CU_ASSERT_NSTRING_EQUAL(value, "32768", 5);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, 1), 6);
    CU_ASSERT_STRING_EQUAL(definition->text, figure_2);
    CU_ASSERT_EQUAL(definition->text_length, sizeof figure_2 - 1);
    step_definition_destroy(definition);
}

static void test_empty(void)
{
    struct step_definition *definition = dl_parse_text("", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL(definition->record_count, 0);
    step_definition_destroy(definition);
    definition = dl_parse_text("record A {} package p { record B {} }", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, 0), 0);
    step_definition_destroy(definition);
    step_definition_destroy(NULL);
}

static void test_comments(void)
{
    struct step_definition *definition = dl_parse_text("# one\n// two /* \n/* three\n ** { */\n"
                                                       "record A { /**/ int a; /***/ # }\n"
                                                       "  int b; // }\n}",
                                                       NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL(definition->records[0].field_count, 2);
    step_definition_destroy(definition);
}

static void test_labels(void)
{
    struct step_definition *definition =
        dl_parse_text("record A \"a label\" { \"What it is.\" int a \"an \\\"a\\\"\", b; }"
                      "record B { }",
                      NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    const struct step_record *a = dl_record(definition, "A");
    CU_ASSERT_STRING_EQUAL(a->label, "a label");
    CU_ASSERT_STRING_EQUAL(a->description, "What it is.");
    CU_ASSERT_STRING_EQUAL(a->fields[0].description, "an \"a\"");
    CU_ASSERT_PTR_NULL(a->fields[1].description);
    CU_ASSERT_PTR_NULL(dl_record(definition, "B")->label);
    CU_ASSERT_PTR_NULL(dl_record(definition, "B")->description);
    step_definition_destroy(definition);
}

static void test_ordinary_names(void)
{
    struct step_definition *definition = dl_parse_text(
        "record class { int size, length, element, event, property; string label; }", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL(definition->records[0].field_count, 6);
    step_definition_destroy(definition);
}

static void test_field_lists(void)
{
    char text[200];
    struct step_definition *definition = dl_parse_text(
        "record A { int <t:\"1\"> a, b <f:\"2\"> <f:\"3\">; string c; data d; }", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    const struct step_field *fields = definition->records[0].fields;
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&fields[0].attributes), "t=1;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&fields[1].attributes), "t=1;f=2;f=3;");
    CU_ASSERT_EQUAL(fields[0].kind, STEP_TYPE_INT);
    CU_ASSERT_EQUAL(fields[2].kind, STEP_TYPE_STRING);
    CU_ASSERT_EQUAL(fields[3].kind, STEP_TYPE_DATA);
    step_definition_destroy(definition);
}

static void test_arrays(void)
{
    char text[200];
    struct step_definition *definition = dl_parse_text(
        "record A { int <e:\"1\">[] <m:\"2\">[] <o:\"3\"> a <f:\"4\">; string[] s; A[] none; }",
        NULL, NULL);
    CU_ASSERT_PTR_NULL(definition); /* A in itself */
    definition = dl_parse_text(
        "record A { int <e:\"1\">[] <m:\"2\">[] <o:\"3\"> a <f:\"4\">; string[] s; }", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    const struct step_field *field = dl_field(definition, "A", "a");
    CU_ASSERT_EQUAL(field->array_depth, 2);
    CU_ASSERT_EQUAL(field->kind, STEP_TYPE_INT);
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&field->attributes), "o=3;f=4;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(field, "element")), "m=2;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(field, "element.element")), "e=1;");
    CU_ASSERT_EQUAL(dl_field(definition, "A", "s")->array_depth, 1);
    CU_ASSERT_EQUAL(dl_field(definition, "A", "s")->sub_attribute_count, 0);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, 0), 2);
    step_definition_destroy(definition);
}

static void test_packages(void)
{
    struct step_definition *definition = dl_parse_text(
        "record T { } package p { record T { } package q { record U { T t; p.T pt; } }\n"
        "  record V { q.U u; } }\n"
        "package p { record W extends T { } package q { record X { U u; V v; } } }\n"
        "package r { record Y { p.q.U u; T t; } } package s.t { record Z { } }",
        NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    uint32_t inner = step_definition_find(definition, "p.T");
    CU_ASSERT_EQUAL(dl_field(definition, "p.q.U", "t")->record, inner);
    CU_ASSERT_EQUAL(dl_field(definition, "p.q.U", "pt")->record, inner);
    CU_ASSERT_EQUAL(dl_record(definition, "p.W")->parent, inner);
    CU_ASSERT_EQUAL(dl_field(definition, "p.q.X", "v")->record,
                    step_definition_find(definition, "p.V"));
    CU_ASSERT_EQUAL(dl_field(definition, "r.Y", "t")->record,
                    step_definition_find(definition, "T"));
    CU_ASSERT_NOT_EQUAL(step_definition_find(definition, "s.t.Z"), STEP_NO_RECORD);
    CU_ASSERT_EQUAL(step_definition_find(definition, "U"), STEP_NO_RECORD);
    step_definition_destroy(definition);
}

static void test_inheritance(void)
{
    char text[200];
    struct step_definition *definition = dl_parse_text("record A { <g:\"a\"> int x; }"
                                                       "record B extends A { <g:\"b\"> int y; }"
                                                       "record C extends ! B { <g:\"c\"> int z; }"
                                                       "record D extends C { }",
                                                       NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&dl_record(definition, "B")->attributes), "g=a;g=b;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&dl_record(definition, "C")->attributes), "g=c;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&dl_record(definition, "D")->attributes), "g=c;");
    const struct step_record *d = dl_record(definition, "D");
    CU_ASSERT_EQUAL(d->field_count, 3);
    CU_ASSERT_STRING_EQUAL(d->fields[0].name, "x");
    CU_ASSERT_STRING_EQUAL(d->fields[2].name, "z");
    CU_ASSERT_EQUAL(d->fields[1].declaring_record, step_definition_find(definition, "B"));
    CU_ASSERT_TRUE(step_record_extends(definition, 3, 0));
    CU_ASSERT_TRUE(step_record_extends(definition, 1, 1));
    CU_ASSERT_FALSE(step_record_extends(definition, 0, 1));
    step_definition_destroy(definition);
}

/* `~` adds behind what is there, `!` replaces the groups that it names. */
static void test_modifiers(void)
{
    char text[200];
    struct step_definition *definition =
        dl_parse_text("record A { int x <encoding:\"delta\">; ~x <encoding:\"size=4\">; int w; }"
                      "record B extends A { ~x <encoding:\"default\">; }"
                      "record C extends B { !x <encoding:\"constant\">; }"
                      "record D extends C { }"
                      "record T { int t <property:\"time\"> <encoding:\"delta\">; }"
                      "record U extends T { !t <encoding:\"stride=1\">; }",
                      NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    const struct step_field *a = dl_field(definition, "A", "x");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&a->attributes), "encoding=delta;encoding=size=4;");
    CU_ASSERT_FALSE(a->modified);
    const struct step_field *b = dl_field(definition, "B", "x");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&b->attributes),
                           "encoding=delta;encoding=size=4;encoding=default;");
    CU_ASSERT_TRUE(b->modified);
    CU_ASSERT_FALSE(dl_field(definition, "B", "w")->modified);
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&dl_field(definition, "C", "x")->attributes),
                           "encoding=constant;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&dl_field(definition, "D", "x")->attributes),
                           "encoding=constant;");
    CU_ASSERT_TRUE(dl_field(definition, "D", "x")->modified);
    CU_ASSERT_EQUAL(dl_field(definition, "D", "x")->declaring_record, 0);
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(&dl_field(definition, "U", "t")->attributes),
                           "property=time;encoding=stride=1;");
    step_definition_destroy(definition);
}

static void test_sub_fields(void)
{
    char text[200];
    struct step_definition *definition = dl_parse_text(
        "record P { int x; string name; }"
        "record A { string s; int[] a; P p; P[] ps; ~s.length <encoding:\"default\">;"
        "  ~a.element <encoding:\"delta\">; ~a.length <encoding:\"size=1\">;"
        "  ~p.name.length <encoding:\"constant\">; ~ps.element.x <encoding:\"delta\">; }"
        "record B extends A { ~s.length <encoding:\"size=2\">;"
        "  !a.length <encoding:\"creep\">; }",
        NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(dl_field(definition, "A", "s"), "length")),
                           "encoding=default;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(dl_field(definition, "A", "a"), "element")),
                           "encoding=delta;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(dl_field(definition, "A", "p"), "name.length")),
                           "encoding=constant;");
    CU_ASSERT_PTR_NOT_NULL(dl_sub(dl_field(definition, "A", "ps"), "element.x"));
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(dl_field(definition, "B", "s"), "length")),
                           "encoding=default;encoding=size=2;");
    CU_ASSERT_STRING_EQUAL(ATTRIBUTES(dl_sub(dl_field(definition, "B", "a"), "length")),
                           "encoding=creep;");
    CU_ASSERT_TRUE(dl_field(definition, "B", "s")->modified);
    CU_ASSERT_FALSE(dl_field(definition, "B", "p")->modified);
    step_definition_destroy(definition);
}

static void test_slots(void)
{
    struct step_definition *definition = dl_parse_text(
        "record P { int x, y; } record Q { P a, b; string s; }"
        "record R { Q q; Q by_id <encoding:\"size=4, identifier\">; Q[] many; data d; }"
        "record Node { Node next <encoding:\"identifier\">; int v; }",
        NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, step_definition_find(definition, "P")), 2);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, step_definition_find(definition, "Q")), 5);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, step_definition_find(definition, "R")), 8);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, step_definition_find(definition, "Node")),
                    2);
    step_definition_destroy(definition);
}

static void test_rules(void)
{
    const struct step_attribute items[] = {{"encoding", "delta=1,size=4", 0, 0},
                                           {"map", "delta=9", 0, 0},
                                           {"encoding", " delta = 2 , delta=3,default", 0, 0},
                                           {"encoding", "deltas=7", 0, 0}};
    const struct step_attributes list = {items, 4};
    const char *value;
    size_t length;
    CU_ASSERT_TRUE(step_attributes_rule(&list, "encoding", "delta", &value, &length));
    CU_ASSERT_TRUE(length == 1 && *value == '3');
    CU_ASSERT_TRUE(step_attributes_rule(&list, "encoding", "size", &value, &length));
    CU_ASSERT_TRUE(length == 1 && *value == '4');
    CU_ASSERT_TRUE(step_attributes_rule(&list, "encoding", "default", &value, &length));
    CU_ASSERT_EQUAL(length, 0);
    CU_ASSERT_FALSE(step_attributes_rule(&list, "encoding", "delt", &value, &length));
    CU_ASSERT_FALSE(step_attributes_rule(&list, "property", "delta", &value, &length));
}

CU_pSuite dl_add_language_suite(void)
{
    CU_pSuite suite = CU_add_suite("language", NULL, NULL);
    CU_ADD_TEST(suite, test_figure_2);
    CU_ADD_TEST(suite, test_empty);
    CU_ADD_TEST(suite, test_comments);
    CU_ADD_TEST(suite, test_labels);
    CU_ADD_TEST(suite, test_ordinary_names);
    CU_ADD_TEST(suite, test_field_lists);
    CU_ADD_TEST(suite, test_arrays);
    CU_ADD_TEST(suite, test_packages);
    CU_ADD_TEST(suite, test_inheritance);
    CU_ADD_TEST(suite, test_modifiers);
    CU_ADD_TEST(suite, test_sub_fields);
    CU_ADD_TEST(suite, test_slots);
    CU_ADD_TEST(suite, test_rules);
    return suite;
}
