/* SPDX-License-Identifier: Apache-2.0 */
/* A chart of curves: where points are, and that nothing of a name ends its text. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/output/svg_chart.h"
#include "tests/unit/run_suite.h"

struct point {
    double x, y;
};

/* A chart of one curve of these points; the caller frees it. */
static char *draw(double x_least, double x_most, double y_most, const struct point *points,
                  size_t count, const char *name)
{
    char *text = NULL;
    size_t length = 0;
    struct svg_chart chart = {.out = open_memstream(&text, &length),
                              .title = "title",
                              .subject = name,
                              .x_name = "x",
                              .x_least = x_least,
                              .x_most = x_most,
                              .y_most = y_most,
                              .x_label = quantity_of_bytes,
                              .x_steps = 4};
    CU_ASSERT_PTR_NOT_NULL_FATAL(chart.out);
    svg_chart_begin(&chart);
    svg_chart_begin_curve(&chart, false);
    for (size_t i = 0; i < count; i++)
        svg_chart_point(&chart, points[i].x, points[i].y);
    svg_chart_end_curve(&chart, name, false);
    svg_chart_end(&chart);
    CU_ASSERT_EQUAL(chart.curve_count, 1);
    fclose(chart.out);
    return text;
}

/* The corners of the plot, and its middle. */
static void test_places(void)
{
    static const struct point points[] = {{10, 0}, {20, 400}, {15, 200}};
    char *text = draw(10, 20, 400, points, 3, "run.step");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "points=\"90.0,370.0 740.0,40.0 415.0,205.0 \""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">400 B</text>"));
    CU_ASSERT_EQUAL(strncmp(text, "<svg ", 5), 0);
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 7, "</svg>\n");
    free(text);
}

static void test_names(void)
{
    char *text = draw(0, 1, 1, NULL, 0, "</text><script>&amp;\033[2J");
    CU_ASSERT_PTR_NULL(strstr(text, "<script>"));
    CU_ASSERT_PTR_NULL(strchr(text, '\033'));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "&lt;/text>&lt;script>&amp;amp;[2J"));
    free(text);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("charts", NULL, NULL);
    CU_add_test(suite, "places", test_places);
    CU_add_test(suite, "names", test_names);
}
