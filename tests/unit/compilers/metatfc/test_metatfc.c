/* SPDX-License-Identifier: Apache-2.0 */
/* The C that metatfc makes of a DTD: which fields have members, and how they are called. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers/metatfc/metatfc_model.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

static const char dtd_text[] = "tag.width = 1;\n"
                               "size.width = 4; size.interpretation = none;\n"
                               "moving.width = 1; moving.interpretation = delta 50;\n"
                               "class.width = 2; class.interpretation = none;\n"
                               "note : (tag, moving) { tag.value = 9; }\n"
                               "section heap 1 {\n"
                               "    alloc : (tag, size, moving, class, vfield) { tag.value = 4; }\n"
                               "    free : (tag, size, size) { tag.value = 5; }\n"
                               "}\n"
                               "section other 2 {\n"
                               "    alloc : (tag, size) { tag.value = 4; }\n"
                               "}\n";

static bool make(struct mc_model *model, const char *text, const char *file, const char *prefix)
{
    struct metatf_dtd *dtd = NULL;
    CU_ASSERT_EQUAL_FATAL(metatf_dtd_parse(text, strlen(text), "t", NULL, NULL, &dtd, NULL),
                          STEP_STATUS_OK);
    *model = (struct mc_model){.dtd = dtd, .source = "t.dtd"};
    model->file = compiler_base("metatfc", file, prefix, model->base);
    return mc_model_init(model);
}

static void unmake(struct mc_model *model)
{
    struct metatf_dtd *dtd = (struct metatf_dtd *) model->dtd;
    mc_model_reset(model);
    metatf_dtd_destroy(dtd);
}

static const struct mc_record *record_of(const struct mc_model *model, const char *name)
{
    for (size_t i = 0; i < model->record_count; i++)
        if (strcmp(model->records[i].name, name) == 0 && !model->records[i].is_shared)
            return &model->records[i];
    return NULL;
}

/* A tag and a length are no members; a reserved name and one that comes twice are changed. */
static void test_model(void)
{
    struct mc_model model;
    CU_ASSERT_TRUE_FATAL(make(&model, dtd_text, "d/my-dtd", ""));
    const struct mc_record *alloc = record_of(&model, "my_dtd_heap_alloc");
    CU_ASSERT_PTR_NOT_NULL_FATAL(alloc);
    CU_ASSERT_STRING_EQUAL(alloc->member, "heap_alloc");
    CU_ASSERT_TRUE(alloc->fields[0].is_hidden);
    CU_ASSERT_STRING_EQUAL(alloc->fields[1].member, "size");
    CU_ASSERT_STRING_EQUAL(alloc->fields[3].member, "class_");
    CU_ASSERT_TRUE(alloc->fields[4].is_hidden); /* the length of the bytes */
    CU_ASSERT_EQUAL(alloc->fields[4].user, 5);
    CU_ASSERT_STRING_EQUAL(alloc->fields[5].member, "vfield_data");
    const struct mc_record *release = record_of(&model, "my_dtd_heap_free");
    CU_ASSERT_PTR_NOT_NULL_FATAL(release);
    CU_ASSERT_STRING_NOT_EQUAL(release->fields[1].member, release->fields[2].member);
    CU_ASSERT_PTR_NOT_NULL(record_of(&model, "my_dtd_other_alloc"));
    unmake(&model);
}

static char *text_of(const struct mc_model *model, void (*write)(const void *model, FILE *out))
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(model, out);
    fclose(out);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void test_header(void)
{
    struct mc_model model;
    CU_ASSERT_TRUE_FATAL(make(&model, dtd_text, "m", "my_"));
    char *header = text_of(&model, mc_write_header);
    CU_ASSERT_PTR_NOT_NULL(strstr(header, "struct my_m_heap_alloc {\n"
                                          "    uint64_t size;\n"
                                          "    uint64_t moving;\n"
                                          "    uint64_t class_;\n"
                                          "    struct step_bytes vfield_data;\n"
                                          "};\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(header, "extern const struct metatf_dtd my_m_dtd;\n"));
    /* a global record of two sections has one struct, and one kind */
    CU_ASSERT_EQUAL(count_of(header, "_note {\n"), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(header, "    MY_M_COMMENT\n"));
    free(header);
    unmake(&model);
}

static void test_source(void)
{
    struct mc_model model;
    CU_ASSERT_TRUE_FATAL(make(&model, dtd_text, "m", ""));
    char *source = text_of(&model, mc_write_source);
    CU_ASSERT_PTR_NOT_NULL(strstr(source, "#include \"m.h\"\n"));
    CU_ASSERT_EQUAL(count_of(source, "{"), count_of(source, "}"));
    CU_ASSERT_PTR_NOT_NULL(strstr(source, "m_get_next_event"));
    CU_ASSERT_PTR_NOT_NULL(strstr(source, "m_put_event"));
    free(source);
    unmake(&model);
}

static void test_kinds(void)
{
    struct mc_model model;
    char *text = NULL;
    size_t length;
    CU_ASSERT_TRUE_FATAL(make(&model, dtd_text, "m", ""));
    FILE *out = open_memstream(&text, &length);
    mc_print_kind(record_of(&model, "m_heap_free"), out);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "M_HEAP_FREE");
    free(text);
    unmake(&model);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("metatfc", scratch_begin, scratch_end);
    CU_add_test(suite, "model", test_model);
    CU_add_test(suite, "header", test_header);
    CU_add_test(suite, "source", test_source);
    CU_add_test(suite, "kinds", test_kinds);
}
