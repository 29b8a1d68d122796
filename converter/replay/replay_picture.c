/* SPDX-License-Identifier: Apache-2.0 */
/* Draws an SVG picture of live and resident bytes over the calls of the trace. */
#include <string.h>

#include "converter/base/quantity.h"
#include "converter/replay/replay_report.h"

#define WIDTH 900.0
#define HEIGHT 420.0
#define LEFT 90.0
#define RIGHT 160.0
#define TOP 40.0
#define BOTTOM 50.0
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
#define PLOT_HEIGHT (HEIGHT - TOP - BOTTOM)
#define LINES 5

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                      "#ff7f0e", "#8c564b", "#17becf", "#e377c2"};

/* As in the report page, the system's colour scheme selects light or dark. */
static const char style[] =
    "<style>\n"
    ".back { fill: #fff } text { fill: #1c2430 } .grid { stroke: #d5dae2 } .live { stroke: #000 }\n"
    "@media (prefers-color-scheme: dark) { .back { fill: #14181f } text { fill: #e4e8ee } "
    ".grid { stroke: #36404d } .live { stroke: #fff } }\n"
    "</style>\n";

struct scale {
    double calls, bytes;
};

static struct scale scale_of(const struct replay *replay)
{
    struct scale scale = {1, 1};
    for (size_t i = 0; i < replay->allocators.count; i++) {
        const struct replay_control *result = replay->allocators.items[i].best;
        for (uint32_t j = 0; j < result->sample_count; j++) {
            const struct replay_sample *sample = &result->samples[j];
            uint64_t most = sample->live_bytes > sample->resident_bytes ? sample->live_bytes
                                                                        : sample->resident_bytes;
            scale.calls =
                (double) sample->operation > scale.calls ? (double) sample->operation : scale.calls;
            scale.bytes = (double) most > scale.bytes ? (double) most : scale.bytes;
        }
    }
    scale.bytes *= 1.05;
    return scale;
}

static void print_text(FILE *out, const char *text)
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

static void print_frame(const struct scale *scale, FILE *out)
{
    for (int i = 0; i <= LINES; i++) {
        double share = (double) i / LINES, y = TOP + PLOT_HEIGHT * (1 - share);
        fprintf(out,
                "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" class=\"grid\"/>"
                "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 8, y + 4,
                quantity_of_bytes(scale->bytes * share).text);
        double x = LEFT + PLOT_WIDTH * share;
        fprintf(out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", x,
                HEIGHT - BOTTOM + 18, quantity_of_count((uint64_t) (scale->calls * share)).text);
    }
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">calls</text>\n",
            LEFT + PLOT_WIDTH / 2, HEIGHT - 10);
}

static void print_curve(const struct replay_control *result, bool is_live,
                        const struct scale *scale, const char *colour, FILE *out)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s points=\"", colour,
            is_live ? " class=\"live\" stroke-dasharray=\"5 3\"" : "");
    for (uint32_t i = 0; i < result->sample_count; i++) {
        const struct replay_sample *sample = &result->samples[i];
        double bytes = (double) (is_live ? sample->live_bytes : sample->resident_bytes);
        fprintf(out, "%.1f,%.1f ", LEFT + PLOT_WIDTH * (double) sample->operation / scale->calls,
                TOP + PLOT_HEIGHT * (1 - bytes / scale->bytes));
    }
    fputs("\"/>\n", out);
}

static void print_key(size_t place, const char *name, const char *colour, bool is_live, FILE *out)
{
    double x = LEFT + PLOT_WIDTH + 12, y = TOP + 14 + 20 * (double) place;
    fprintf(out,
            "<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" stroke=\"%s\" "
            "stroke-width=\"2\"%s/><text x=\"%.0f\" y=\"%.0f\">",
            x, y, x + 24, y, colour, is_live ? " class=\"live\" stroke-dasharray=\"5 3\"" : "",
            x + 30, y + 4);
    print_text(out, name);
    fputs("</text>\n", out);
}

void replay_print_picture(const struct replay *replay, FILE *out)
{
    struct scale scale = scale_of(replay);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "%s<rect width=\"100%%\" height=\"100%%\" class=\"back\"/>\n"
            "<text x=\"%.0f\" y=\"22\" font-size=\"14\">Memory by allocator: ",
            WIDTH, HEIGHT, WIDTH, HEIGHT, style, LEFT);
    const char *slash = strrchr(replay->settings.name, '/');
    print_text(out, slash != NULL ? slash + 1 : replay->settings.name);
    fputs("</text>\n", out);
    print_frame(&scale, out);
    if (replay->allocators.count > 0)
        print_curve(replay->allocators.items[0].best, true, &scale, "#000", out);
    print_key(0, "live bytes", "#000", true, out);
    for (size_t i = 0; i < replay->allocators.count; i++) {
        const char *colour = colours[i % (sizeof colours / sizeof colours[0])];
        const char *name = strrchr(replay->allocators.items[i].name, '/');
        print_curve(replay->allocators.items[i].best, false, &scale, colour, out);
        print_key(i + 1, name != NULL ? name + 1 : replay->allocators.items[i].name, colour, false,
                  out);
    }
    fputs("</svg>\n", out);
}
