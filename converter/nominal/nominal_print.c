/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the statistics as the suite's YAML, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/nominal/nominal.h"
#include "format/json/json_output.h"

static const struct {
    const char *key, *description;
} rows[NOMINAL_KEY_COUNT] = {
    [NOMINAL_ALD] = {"ALD", "lifetime dispersion (percent, Gini coefficient)"},
    [NOMINAL_AOA] = {"AOA", "average object size (bytes)"},
    [NOMINAL_AOL] = {"AOL", "90-percentile object size (bytes)"},
    [NOMINAL_AOM] = {"AOM", "median object size (bytes)"},
    [NOMINAL_AOS] = {"AOS", "10-percentile object size (bytes)"},
    [NOMINAL_ARA] = {"ARA", "allocation rate (bytes / usec)"},
    [NOMINAL_BAS] = {"BAS", "aastore per usec"},
    [NOMINAL_BUF] = {"BUF", "thousands of unique function calls"},
    [NOMINAL_GLK] = {"GLK", "percent 10th iteration memory leakage"},
    [NOMINAL_GMD] = {"GMD", "minimum heap size (MB), with compressed pointers"},
    [NOMINAL_GMU] = {"GMU", "minimum heap size (MB), without compressed pointers"},
    [NOMINAL_GTO] = {"GTO", "memory turnover (total alloc bytes / min heap bytes)"},
};

static const char *const marks[] = {[NOMINAL_EXACT] = "exact",
                                    [NOMINAL_AT_LEAST] = "bound, at least",
                                    [NOMINAL_AT_MOST] = "bound, at most",
                                    [NOMINAL_ESTIMATE] = "estimate",
                                    [NOMINAL_UNKNOWN] = "unknown"};

void nominal_print_yaml(const struct nominal *nominal, FILE *out)
{
    struct nominal_value values[NOMINAL_KEY_COUNT];
    nominal_values(nominal, values);
    fputs("# StepTrace, of ", out);
    print_shown_text(nominal->path, out);
    fprintf(out, ": %" PRIu64 " objects, %" PRIu64 " bytes", nominal->objects, nominal->bytes);
    if (nominal->options.phases.count > 0)
        fprintf(out, ", in %" PRIu64 " phase%s", nominal->phase_count,
                plural(nominal->phase_count));
    fputs("\n# key: [score/10, value, rank, min, median, max, description]\n", out);
    for (int i = 0; i < NOMINAL_KEY_COUNT; i++) {
        const struct nominal_value *value = &values[i];
        fprintf(out, "%s: [null, ", rows[i].key);
        if (value->mark == NOMINAL_UNKNOWN)
            fputs("null", out);
        else
            fprintf(out, "%" PRIu64, value->value);
        fprintf(out, ", null, null, null, null, 'nominal %s; %s%s%s']\n", rows[i].description,
                marks[value->mark], *value->reason != '\0' ? ": " : "", value->reason);
    }
}

void nominal_print_json(const struct nominal *nominal, FILE *out)
{
    struct nominal_value values[NOMINAL_KEY_COUNT];
    struct json_output json;
    nominal_values(nominal, values);
    json_open(&json, out);
    json_text(&json, "trace", nominal->path);
    json_number(&json, "objects", nominal->objects);
    json_number(&json, "bytes", nominal->bytes);
    json_number(&json, "most_live_bytes", nominal->peak);
    json_number(&json, "iterations", nominal->iterations);
    death_dates_put_json(&nominal->deaths, &json);
    json_begin_array(&json, "statistics");
    for (int i = 0; i < NOMINAL_KEY_COUNT; i++) {
        json_begin_object(&json, NULL);
        json_text(&json, "key", rows[i].key);
        if (values[i].mark == NOMINAL_UNKNOWN)
            json_null(&json, "value");
        else
            json_number(&json, "value", values[i].value);
        json_text(&json, "mark", marks[values[i].mark]);
        json_text(&json, "reason", values[i].reason);
        json_text(&json, "description", rows[i].description);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}
