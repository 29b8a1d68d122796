/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of objects, as JDK 17 and 25 reported them for such classes; properties and descriptors
 * that are not valid. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/layout/class_fields.h"
#include "tests/unit/run_suite.h"

static const struct object_layout compressed = {.header = 12, .reference = 4, .alignment = 8};
static const struct object_layout compact = {.header = 8, .reference = 4, .alignment = 8};
static const struct object_layout wide = {.header = 16, .reference = 8, .alignment = 8};
static const struct object_layout coarse = {.header = 12, .reference = 4, .alignment = 32};

static const struct selected_globs no_globs;
static bool is_unsure;

static void put(struct class_fields *fields, uint32_t class_id, uint32_t super_id, const char *name,
                const char *text)
{
    const struct trace_layout layout = {class_id, step_text(name), super_id, step_text(text)};
    CU_ASSERT_TRUE(class_fields_put(fields, &layout));
}

static void expect(const struct class_fields *fields, uint32_t class_id, const uint64_t sizes[4])
{
    const struct object_layout *layouts[] = {&compressed, &compact, &wide, &coarse};
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(class_fields_size(fields, class_id, layouts[i], &is_unsure), sizes[i]);
}

static void test_sizes(void)
{
    struct class_fields fields;
    class_fields_init(&fields, &no_globs);
    put(&fields, 1, 0, "java/lang/Object", "");
    put(&fields, 2, 1, "Bytes", "BBB");
    /* the reference and the short go into the gap before the long, where there is one */
    put(&fields, 3, 2, "Longs", "JSLjava/lang/Object;");
    put(&fields, 4, 3, "Mixed", "IDZZ[Ljava/lang/Object;Ljava/lang/String;");
    put(&fields, 5, 1, "java/lang/String", "[BIBZ");
    expect(&fields, 1, (const uint64_t[]){16, 8, 16, 32});
    expect(&fields, 2, (const uint64_t[]){16, 16, 24, 32});
    expect(&fields, 3, (const uint64_t[]){32, 32, 40, 32});
    expect(&fields, 4, (const uint64_t[]){56, 48, 72, 64});
    expect(&fields, 5, (const uint64_t[]){24, 24, 32, 32});
    class_fields_reset(&fields);
}

/* Sizes that JDK 8u504 and 11.0.24 gave such classes (the boxes: 8u504; Failure, whose superclass
 * has the fields of 11: 11.0.24): as they are, with -UseCompressedOops, with
 * -UseCompressedClassPointers, with ObjectAlignmentInBytes=32. */
static const struct {
    const char *name;
    uint32_t super_id;
    const char *fields;
    uint64_t sizes[4];
} old_classes[] = {
    {"java/lang/Object", 0, "", {16, 16, 16, 32}},
    {"Bytes", 1, "BBB", {16, 24, 24, 32}},
    {"Longs", 2, "JSLjava/lang/Object;", {32, 48, 40, 32}},
    {"Mixed", 3, "IDZZ[Ljava/lang/Object;Ljava/lang/String;", {56, 80, 64, 64}},
    {"References", 1, "Ljava/lang/Object;[ILjava/lang/Object;", {24, 40, 32, 32}},
    {"Deep", 5, "CFJ", {40, 56, 48, 64}},
    {"GapShorts", 1, "JSSSB", {32, 32, 32, 32}},
    {"GapBytes", 2, "DBBBBB", {32, 40, 40, 32}},
    {"GapReference", 1, "JLjava/lang/Object;Ljava/lang/Object;", {32, 40, 32, 32}},
    {"Tail", 8, "B", {40, 48, 40, 64}},
    {"None", 10, "", {40, 48, 40, 64}},
    {"java/lang/Throwable",
     1,
     "Ljava/lang/Object;Ljava/lang/String;Ljava/lang/Throwable;[Ljava/lang/StackTraceElement;I"
     "Ljava/util/List;",
     {40, 64, 40, 64}},
    {"Failure", 12, "JI", {48, 80, 56, 64}},
    {"java/lang/Integer", 1, "I", {16, 24, 24, 32}},
    {"java/lang/Long", 1, "J", {24, 24, 24, 32}},
};

static void test_old_fields(void)
{
    static const struct object_layout layouts[] = {
        {.header = 12, .reference = 4, .alignment = 8, .old_fields = true},
        {.header = 16, .reference = 8, .alignment = 8, .old_fields = true},
        {.header = 16, .reference = 4, .alignment = 8, .old_fields = true},
        {.header = 12, .reference = 4, .alignment = 32, .old_fields = true}};
    const uint32_t count = sizeof old_classes / sizeof old_classes[0];
    struct class_fields fields;
    class_fields_init(&fields, &no_globs);
    for (uint32_t i = 0; i < count; i++)
        put(&fields, i + 1, old_classes[i].super_id, old_classes[i].name, old_classes[i].fields);
    for (uint32_t i = 0; i < count; i++)
        for (size_t at = 0; at < 4; at++)
            CU_ASSERT_EQUAL(class_fields_size(&fields, i + 1, &layouts[at], &is_unsure),
                            old_classes[i].sizes[at]);
    class_fields_reset(&fields);
}

/* A class whose offsets the JVM knew: the reference is not in the gap before the long. */
static void test_fixed_fields(void)
{
    static const struct object_layout layout = {
        .header = 12, .reference = 4, .alignment = 8, .old_fields = true};
    struct class_fields fields;
    class_fields_init(&fields, &no_globs);
    put(&fields, 1, 0, "java/lang/ref/Reference", "JLjava/lang/Object;Ljava/lang/Object;B");
    put(&fields, 2, 0, "java/lang/ref/Referent", "JLjava/lang/Object;Ljava/lang/Object;B");
    CU_ASSERT_EQUAL(class_fields_size(&fields, 1, &layout, &is_unsure), 40);
    CU_ASSERT_EQUAL(class_fields_size(&fields, 2, &layout, &is_unsure), 32);
    class_fields_reset(&fields);
}

/* Combinations that no JDK had; elements of arrays begin where those of JDK 22 do. */
static void test_old_layouts(void)
{
    static const struct {
        uint32_t header, reference;
        bool is_possible;
    } rows[] = {{8, 4, false}, {8, 8, false}, {12, 8, false},
                {12, 4, true}, {16, 4, true}, {16, 8, true}};
    const struct layout_change change = {.text = "fields=old", .old_fields = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct object_layout traced = {
            .header = rows[i].header, .reference = rows[i].reference, .alignment = 8};
        struct object_layout layout = object_layout_changed(&traced, &change);
        CU_ASSERT_EQUAL(object_layout_fault(&layout) == NULL, rows[i].is_possible);
        CU_ASSERT_PTR_NULL(object_layout_fault(&traced));
        CU_ASSERT_EQUAL(object_layout_elements_at(&layout, 0), rows[i].header == 16   ? 24
                                                               : rows[i].header == 12 ? 16
                                                                                      : 12);
    }
}

static void test_gaps(void)
{
    struct field_packing packing;
    const struct field_counts bytes = {{1, 0, 0, 0}, 0}, ints = {{0, 0, 1, 0}, 0};
    const struct field_counts longs = {{0, 0, 0, 1}, 0}, shorts = {{0, 1, 0, 0}, 0};
    field_packing_init(&packing, &compressed);
    field_packing_add(&packing, &bytes, false); /* at 12 */
    field_packing_add(&packing, &longs, false); /* at 16, with a gap from 13 to 16 */
    field_packing_add(&packing, &shorts, false);
    CU_ASSERT_EQUAL(packing.end, 24);
    CU_ASSERT_EQUAL(packing.gap_count, 1);
    CU_ASSERT_EQUAL(packing.gaps[0].at, 13);
    CU_ASSERT_EQUAL(packing.gaps[0].size, 1);
    field_packing_add(&packing, &ints, false);
    field_packing_add(&packing, &bytes, false);
    CU_ASSERT_EQUAL(packing.end, 28);
    CU_ASSERT_EQUAL(packing.gap_count, 0);
    CU_ASSERT_EQUAL(field_packing_size(&packing), 32);
}

/* Names, superclasses and fields; sizes that JDK 28 (28-ea+18, --enable-preview) gave such classes,
 * those up to Empty as value classes: with headers of 8 bytes, of 12, and of 8 with references
 * of 8. */
static const struct {
    const char *name;
    uint32_t super_id;
    const char *fields;
    uint64_t sizes[3];
} values[] = {
    {"java/lang/Object", 0, "", {8, 16, 8}},
    {"P2", 1, "II", {24, 32, 24}},
    {"S3", 1, "SB", {16, 16, 16}},
    {"B1", 1, "B", {16, 16, 16}},
    {"I1", 1, "I", {16, 24, 16}},
    {"L1", 1, "J", {24, 32, 24}},
    {"Big", 1, "JILjava/lang/Object;", {32, 40, 32}},
    {"R1", 1, "Ljava/lang/Object;", {16, 24, 24}},
    {"Nest", 1, "LS3;LI1;B", {24, 24, 24}},
    {"Nest2", 1, "LP2;B", {24, 24, 24}},
    {"Rec", 1, "CC", {16, 24, 16}},
    {"Empty", 1, "", {16, 16, 16}},
    {"H1", 1, "LP2;LS3;LB1;LI1;LL1;", {32, 40, 40}},
    {"H2", 1, "BLS3;LI1;", {24, 32, 24}},
    {"H3", 14, "LS3;LB1;Ljava/lang/Object;LRec;LR1;LBig;LNest;LNest2;", {64, 64, 80}},
    {"H4", 1, "LEmpty;", {16, 16, 16}},
    {"H5", 1, "ILB1;LB1;", {16, 24, 16}},
};
#define VALUES (sizeof values / sizeof values[0])

static void put_values(struct class_fields *fields, bool is_name)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        const struct trace_layout layout = {i + 1, step_text(values[i].name), values[i].super_id,
                                            step_text(values[i].fields)};
        CU_ASSERT_TRUE(is_name ? class_fields_put_name(fields, &layout)
                               : class_fields_put(fields, &layout));
    }
}

static void test_values(void)
{
    static const struct selected_globs globs = {
        {"P2", "S3", "B1", "?1", "Big", "Nest*", "Rec", "Empty", "!H1"}, 9};
    static const struct object_layout layouts[] = {
        {.header = 8, .reference = 4, .alignment = 8, .values = true},
        {.header = 12, .reference = 4, .alignment = 8, .values = true},
        {.header = 8, .reference = 8, .alignment = 8, .values = true}};
    static const uint64_t arrays[] = {4024, 4024, 4024}; /* of 1001 times S3 */
    struct class_fields fields;
    class_fields_init(&fields, &globs);
    put_values(&fields, true);
    put_values(&fields, false);
    is_unsure = false;
    for (size_t at = 0; at < 3; at++) {
        for (uint32_t i = 0; i < VALUES; i++)
            CU_ASSERT_EQUAL(class_fields_size(&fields, i + 1, &layouts[at], &is_unsure),
                            values[i].sizes[at]);
        CU_ASSERT_EQUAL(class_fields_value(&fields, 3, &layouts[at]).atomic, 4);
        CU_ASSERT_EQUAL(value_array_size(1001, 2, &layouts[at]), arrays[at]);
        CU_ASSERT_EQUAL(class_fields_value(&fields, 2, &layouts[at]).atomic, 0);
        CU_ASSERT_EQUAL(class_fields_value(&fields, 2, &layouts[at]).size, 9);
    }
    CU_ASSERT_FALSE(is_unsure);
    CU_ASSERT_EQUAL(class_fields_size(&fields, 2, &compressed, &is_unsure), 24);
    class_fields_reset(&fields);
}

/* Classes of a list refer to themselves; two that contain each other; one with a subclass, and the
 * subclass. */
static void test_impossible_values(void)
{
    static const struct selected_globs globs = {{"Node", "Left", "Right", "Up", "Down"}, 5};
    static const struct object_layout layout = {
        .header = 8, .reference = 4, .alignment = 8, .values = true};
    static const struct trace_layout layouts[] = {
        {1, {(const uint8_t *) "Object", 6}, 0, {(const uint8_t *) "", 0}},
        {2, {(const uint8_t *) "Node", 4}, 1, {(const uint8_t *) "LNode;", 6}},
        {3, {(const uint8_t *) "Left", 4}, 1, {(const uint8_t *) "LRight;", 7}},
        {4, {(const uint8_t *) "Right", 5}, 1, {(const uint8_t *) "LLeft;", 6}},
        {5, {(const uint8_t *) "Up", 2}, 1, {(const uint8_t *) "I", 1}},
        {6, {(const uint8_t *) "Down", 4}, 5, {(const uint8_t *) "I", 1}}};
    static const bool are_values[] = {false, true, true, true, false, false};
    static const bool are_unsure[] = {false, false, true, true, false, false};
    struct class_fields fields;
    class_fields_init(&fields, &globs);
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT_TRUE(class_fields_put_name(&fields, &layouts[i]));
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT_TRUE(class_fields_put(&fields, &layouts[i]));
    for (uint32_t i = 0; i < 6; i++) {
        struct value_shape shape = class_fields_value(&fields, i + 1, &layout);
        CU_ASSERT_EQUAL(shape.is_value, are_values[i]);
        CU_ASSERT_EQUAL(shape.is_unsure, are_unsure[i]);
    }
    CU_ASSERT_EQUAL(class_fields_value(&fields, 2, &layout).atomic, 8);
    class_fields_reset(&fields);
}

static void test_unknown(void)
{
    static const char *const bad[] = {"V", "L", "Ljava", "[", "[[", "I;", "[V"};
    struct class_fields fields;
    class_fields_init(&fields, &no_globs);
    put(&fields, 1, 0, "A", "");
    put(&fields, 2, 9, "B", "I"); /* of an unknown class */
    put(&fields, 3, 4, "C", "I"); /* a circle */
    put(&fields, 4, 3, "D", "I");
    for (uint32_t id = 2; id <= 5; id++)
        CU_ASSERT_EQUAL(class_fields_size(&fields, id, &compressed, &is_unsure), 0);
    for (size_t i = 0; i + 1 < sizeof bad / sizeof bad[0]; i++) {
        put(&fields, 6, 1, "E", bad[i]);
        CU_ASSERT_EQUAL(class_fields_size(&fields, 6, &compressed, &is_unsure), 0);
    }
    class_fields_reset(&fields);
}

static void test_arrays(void)
{
    static const struct {
        const char *property, *version;
        uint32_t header, at[4]; /* elements without compressed class pointers */
    } rows[] = {
        {"alignment=8,reference=4,elements=16/16/16/16", "17.0.1+2", 12, {24, 24, 24, 24}},
        {"alignment=8,reference=4,elements=16/16/16/16", "25.0.3+9-LTS", 12, {20, 20, 20, 24}},
        {"alignment=8,reference=8,elements=12/12/12/16", "25", 8, {20, 20, 20, 24}},
        {"alignment=16,reference=8,elements=24/24/24/24", "17", 16, {24, 24, 24, 24}},
        {"alignment=8,reference=8,elements=20/20/20/24", NULL, 16, {20, 20, 20, 24}},
    };
    const struct layout_change change = {.text = "header=16", .header = 16};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct object_layout layout;
        CU_ASSERT_PTR_NULL(object_layout_of_property(rows[i].property, rows[i].version, &layout));
        CU_ASSERT_EQUAL(layout.header, rows[i].header);
        struct object_layout other = object_layout_changed(&layout, &change);
        for (unsigned shift = 0; shift < 4; shift++)
            CU_ASSERT_EQUAL(object_layout_elements_at(&other, shift), rows[i].at[shift]);
    }
}

static void test_lengths(void)
{
    static const struct {
        char element;
        uint64_t size;
        uint32_t padding;
        bool has_padding, is_known;
        uint64_t length;
    } rows[] = {{'I', 24, 4, true, true, 1},  {'I', 24, 0, true, true, 2},
                {'B', 24, 7, true, true, 1},  {'J', 32, 0, true, true, 2},
                {'[', 32, 4, true, true, 3},  {'L', 32, 4, false, false, 4},
                {'I', 16, 1, true, false, 0}, {'I', 24, 8, true, false, 2},
                {'\0', 24, 0, true, true, 2}, {'I', 0, 0, true, false, 0}};
    struct object_layout layout = object_layout_guess(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t length;
        bool is_known = object_layout_array_length(&layout, rows[i].element, rows[i].size,
                                                   rows[i].padding, rows[i].has_padding, &length);
        CU_ASSERT_EQUAL(is_known, rows[i].is_known);
        CU_ASSERT_EQUAL(length, rows[i].length);
    }
}

static void test_bad_properties(void)
{
    static const char *const bad[] = {"",
                                      "alignment=8",
                                      "alignment=8,reference=4,elements=16/16/16",
                                      "alignment=9,reference=4,elements=16/16/16/16",
                                      "alignment=0,reference=4,elements=16/16/16/16",
                                      "alignment=8,reference=5,elements=16/16/16/16",
                                      "alignment=8,reference=4,elements=16/16/20/16",
                                      "alignment=8,reference=4,elements=32/32/32/32",
                                      "alignment=8,reference=4,elements=16/16/16/16/16"};
    struct object_layout layout;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_PTR_NOT_NULL(object_layout_of_property(bad[i], "25", &layout));
}

static void test_changes(void)
{
    static const char *const bad[] = {"",
                                      "header=10",
                                      "reference=2",
                                      "alignment=12",
                                      "alignment=512",
                                      "header=8,",
                                      "header= 8",
                                      "header=8,header=8",
                                      "alignment=4",
                                      "header",
                                      "header=8;x",
                                      "values,values",
                                      "fields=old,fields=old",
                                      "fields=new",
                                      "fields=old,values",
                                      "alignment=0",
                                      "reference=99999999",
                                      "alignment=+8"};
    struct layout_changes changes = {.count = 0};
    const char *fault = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(take_layout_change(&changes, bad[i], &fault));
    for (size_t i = 1; i < LAYOUTS_MOST; i++)
        CU_ASSERT_TRUE(take_layout_change(&changes, "alignment=16,header=8,reference=8", &fault));
    CU_ASSERT_FALSE(take_layout_change(&changes, "header=8", &fault));
    CU_ASSERT_EQUAL(changes.items[0].alignment, 16);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("layout", NULL, NULL);
    CU_add_test(suite, "sizes", test_sizes);
    CU_add_test(suite, "gaps", test_gaps);
    CU_add_test(suite, "old fields", test_old_fields);
    CU_add_test(suite, "fixed fields", test_fixed_fields);
    CU_add_test(suite, "old layouts", test_old_layouts);
    CU_add_test(suite, "value classes", test_values);
    CU_add_test(suite, "no value classes", test_impossible_values);
    CU_add_test(suite, "unknown fields", test_unknown);
    CU_add_test(suite, "arrays", test_arrays);
    CU_add_test(suite, "lengths of arrays", test_lengths);
    CU_add_test(suite, "bad properties", test_bad_properties);
    CU_add_test(suite, "changes", test_changes);
}
