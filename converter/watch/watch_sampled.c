/* SPDX-License-Identifier: Apache-2.0 */
/* Formats estimates for the screen and as JSON. */
#include "converter/watch/watch_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- a second ---- */

struct rates {
    double seconds; /* 0: unknown */
    struct sample_sums allocated;
};

/* Of a completed trace, over its whole duration; otherwise between the last two looks. */
static struct rates rates_of(const struct watch_view *view)
{
    struct rates rates = {.seconds = watch_view_rates(view).seconds,
                          .allocated = view->estimates.allocated};
    if (view->feed->tail.state == WATCH_RUNNING)
        rates.allocated = sample_sums_without(&rates.allocated, &view->estimates_before.allocated);
    return rates;
}

static struct estimate a_second(struct estimate sum, const struct rates *rates)
{
    return estimate_times(sum, 1 / rates->seconds);
}

/* ---- the screen ---- */

static void put_live(const struct watch_view *view, const char *about, char *line)
{
    const struct watch_model *model = &view->feed->model;
    struct sample_sums live = watch_estimates_live(model, &view->estimates);
    char text[ESTIMATE_TEXT];
    estimate_amount_text(&live, text);
    if (watch_model_knows_deaths(model))
        snprintf(line, WATCH_SAMPLED_TEXT, "live %s%s", about, text);
    else
        snprintf(line, WATCH_SAMPLED_TEXT,
                 "live - (objects were given up, live=: known when all is read after the end)");
}

static void put_rates(const struct watch_view *view, char *line)
{
    struct rates rates = rates_of(view);
    if (rates.seconds <= 0 || rates.allocated.samples == 0) {
        snprintf(line, WATCH_SAMPLED_TEXT, "a second: %s", rates.seconds <= 0 ? "-" : "no sample");
        return;
    }
    char text[ESTIMATE_TEXT];
    estimate_pair_text(a_second(estimate_objects(&rates.allocated), &rates),
                       a_second(estimate_bytes(&rates.allocated), &rates), text);
    snprintf(line, WATCH_SAMPLED_TEXT, "a second: %s", text);
}

void watch_sampled_lines(const struct watch_view *view,
                         char lines[WATCH_SAMPLED_LINES][WATCH_SAMPLED_TEXT])
{
    const struct watch_feed *feed = view->feed;
    const struct sample_sums *allocated = &view->estimates.allocated;
    bool is_exact = watch_feed_is_exact(feed);
    char text[ESTIMATE_TEXT], read[64] = "";
    if (!is_exact)
        snprintf(read, sizeof read, "  read: %.0f %%", 100 * watch_feed_progress(feed));
    estimate_source_text(allocated->samples, feed->model.weights.sampling, lines[0]);
    put_live(view, is_exact ? "" : "~", lines[1]);
    estimate_amount_text(allocated, text);
    snprintf(lines[2], WATCH_SAMPLED_TEXT, "allocated %s%s", text, read);
    put_rates(view, lines[3]);
}

/* ---- rows ---- */

static struct watch_sampled_cell cell_of(struct estimate estimate,
                                         struct quantity (*quantity_of)(double))
{
    struct watch_sampled_cell cell = {"-"};
    if (!isinf(estimate.high))
        snprintf(cell.text, sizeof cell.text, "%s %s..%s", quantity_of(estimate.value).text,
                 quantity_of(estimate.low).text, quantity_of(estimate.high).text);
    return cell;
}

static struct quantity whole(double value)
{
    struct quantity out;
    snprintf(out.text, sizeof out.text, "%" PRIu64, estimate_whole(value));
    return out;
}

void watch_sampled_note_class(struct watch_line *line, enum watch_axis axis, const char *name,
                              size_t length)
{
    struct watch_estimates *estimates = &line->estimates;
    struct step_bytes class = {(const uint8_t *) name, axis == WATCH_CLASSES ? length : 0};
    estimates->allocated = sample_sums_of_class(estimates->allocated, class);
    estimates->freed = sample_sums_of_class(estimates->freed, class);
    estimates->live = sample_sums_of_class(estimates->live, class);
}

struct watch_sampled_cell watch_sampled_cell_of(const struct watch_model *model,
                                                const struct watch_line *line,
                                                enum watch_column column)
{
    const struct watch_estimates *estimates = &line->estimates;
    struct sample_sums live = watch_estimates_live(model, estimates);
    bool lives = column == WATCH_LIVE_BYTES || column == WATCH_LIVE_OBJECTS;
    if (lives && !watch_model_knows_deaths(model))
        return (struct watch_sampled_cell){"-"};
    const struct sample_sums *sums = lives ? &live : &estimates->allocated;
    return column == WATCH_LIVE_BYTES || column == WATCH_BYTES
               ? cell_of(estimate_bytes(sums), quantity_of_bytes)
               : cell_of(estimate_objects(sums), whole);
}

/* ---- JSON ---- */

void watch_sampled_put_sums(const struct watch_model *model, struct json_output *json,
                            const struct watch_estimates *estimates)
{
    struct sample_sums live = watch_estimates_live(model, estimates);
    json_number(json, "samples", estimates->allocated.samples);
    estimate_put_json(json, "allocated_objects", estimate_objects(&estimates->allocated));
    estimate_put_json(json, "allocated_bytes", estimate_bytes(&estimates->allocated));
    if (!watch_model_knows_deaths(model))
        return;
    json_number(json, "freed_samples", estimates->freed.samples);
    estimate_put_json(json, "freed_objects", estimate_objects(&estimates->freed));
    estimate_put_json(json, "freed_bytes", estimate_bytes(&estimates->freed));
    estimate_put_json(json, "live_objects", estimate_objects(&live));
    estimate_put_json(json, "live_bytes", estimate_bytes(&live));
}

void watch_sampled_put_rates(const struct watch_view *view, struct json_output *json)
{
    struct rates rates = rates_of(view);
    if (rates.seconds <= 0)
        return;
    json_begin_object(json, "a_second");
    json_real(json, "seconds", rates.seconds);
    json_number(json, "samples", rates.allocated.samples);
    estimate_put_json(json, "allocated_objects",
                      a_second(estimate_objects(&rates.allocated), &rates));
    estimate_put_json(json, "allocated_bytes", a_second(estimate_bytes(&rates.allocated), &rates));
    json_end_object(json);
}
