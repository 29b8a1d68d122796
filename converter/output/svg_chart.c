/* SPDX-License-Identifier: Apache-2.0 */
/* Writes charts as SVG. */
#include "converter/output/svg_chart.h"

#define WIDTH 900.0
#define HEIGHT 420.0
#define LEFT 90.0
#define RIGHT 160.0
#define TOP 40.0
#define BOTTOM 50.0
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
#define PLOT_HEIGHT (HEIGHT - TOP - BOTTOM)
#define Y_STEPS 5

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                      "#ff7f0e", "#8c564b", "#17becf", "#e377c2"};

/* As in the report page, the system's colour scheme selects light or dark. */
static const char style[] =
    "<style>\n"
    ".back { fill: #fff } text { fill: #1c2430 } .grid { stroke: #d5dae2 } .live { stroke: #000 }\n"
    "@media (prefers-color-scheme: dark) { .back { fill: #14181f } text { fill: #e4e8ee } "
    ".grid { stroke: #36404d } .live { stroke: #fff } }\n"
    "</style>\n";

static void svg_chart_print_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if ((unsigned char) *text >= ' ')
            fputc(*text, out);
    }
}

static void print_frame(const struct svg_chart *chart)
{
    for (int i = 0; i <= Y_STEPS; i++) {
        double share = (double) i / Y_STEPS, y = TOP + PLOT_HEIGHT * (1 - share);
        fprintf(chart->out,
                "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" class=\"grid\"/>"
                "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 8, y + 4,
                quantity_of_bytes(chart->y_most * share).text);
    }
    for (size_t i = 0; i <= chart->x_steps; i++) {
        double share = (double) i / (double) chart->x_steps;
        double x = chart->x_least + share * (chart->x_most - chart->x_least);
        fprintf(chart->out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
                LEFT + PLOT_WIDTH * share, HEIGHT - BOTTOM + 18, chart->x_label(x).text);
    }
    fprintf(chart->out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
            LEFT + PLOT_WIDTH / 2, HEIGHT - 10, chart->x_name);
}

void svg_chart_begin(const struct svg_chart *chart)
{
    fprintf(chart->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "%s<rect width=\"100%%\" height=\"100%%\" class=\"back\"/>\n"
            "<text x=\"%.0f\" y=\"22\" font-size=\"14\">%s: ",
            WIDTH, HEIGHT, WIDTH, HEIGHT, style, LEFT, chart->title);
    svg_chart_print_text(chart->out, chart->subject);
    fputs("</text>\n", chart->out);
    print_frame(chart);
}

static void print_stroke(const struct svg_chart *chart, bool is_reference)
{
    if (is_reference)
        fputs("stroke=\"#000\" class=\"live\" stroke-dasharray=\"5 3\"", chart->out);
    else
        fprintf(chart->out, "stroke=\"%s\"",
                colours[chart->curve_count % (sizeof colours / sizeof colours[0])]);
}

void svg_chart_begin_curve(const struct svg_chart *chart, bool is_reference)
{
    fputs("<polyline fill=\"none\" stroke-width=\"1.5\" ", chart->out);
    print_stroke(chart, is_reference);
    fputs(" points=\"", chart->out);
}

void svg_chart_point(const struct svg_chart *chart, double x, double y)
{
    double share = (x - chart->x_least) / (chart->x_most - chart->x_least);
    fprintf(chart->out, "%.1f,%.1f ", LEFT + PLOT_WIDTH * share,
            TOP + PLOT_HEIGHT * (1 - y / chart->y_most));
}

void svg_chart_end_curve(struct svg_chart *chart, const char *name, bool is_reference)
{
    double x = LEFT + PLOT_WIDTH + 12, y = TOP + 14 + 20 * (double) chart->curve_count;
    fprintf(chart->out,
            "\"/>\n<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" stroke-width=\"2\" ", x, y,
            x + 24, y);
    print_stroke(chart, is_reference);
    fprintf(chart->out, "/><text x=\"%.0f\" y=\"%.0f\">", x + 30, y + 4);
    svg_chart_print_text(chart->out, name);
    fputs("</text>\n", chart->out);
    chart->curve_count++;
}

void svg_chart_end(const struct svg_chart *chart)
{
    fputs("</svg>\n", chart->out);
}
