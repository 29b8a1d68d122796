/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the output that both checkers have in common. */
#include "converter/commands/check_run.h"

#include <inttypes.h>

#include "converter/cli/error_report.h"

/* Reports that the agent's self-test failed while recording (docs/hotspot-internals.md, canary).
 * Returns true if it did. */
static bool report_doubts(const struct input *input)
{
    const char *fault = event_source_property(input->source, "internals-fault").unshown;
    if (fault != NULL)
        report_line("%s: events before the agent noticed may be wrong: %s", input->source->path,
                    fault);
    return fault != NULL;
}

bool check_run_prints(struct check_run *run)
{
    bool prints = run->printed < run->limit;
    run->printed += prints;
    return prints;
}

uint64_t check_run_breach_count(const struct check_run *run)
{
    uint64_t count = 0;
    for (unsigned rule = run->first_rule; rule < run->rule_end; rule++)
        count += run->breaches[rule];
    return count;
}

enum step_status check_run_judge(struct check_run *run, enum step_status status,
                                 void (*print_verdict)(struct check_run *run, bool is_damaged))
{
    if (status != STEP_STATUS_OK) {
        if (run->json != NULL)
            check_run_put_verdict(run, "failed", 0);
        return status;
    }
    status = input_report_damage(run->input);
    bool is_doubtful = report_doubts(run->input);
    print_verdict(run, run->input->is_damaged || is_doubtful);
    return is_doubtful || check_run_breach_count(run) > 0 ? STEP_STATUS_CORRUPT : status;
}

void check_run_put_verdict(struct check_run *run, const char *verdict, uint64_t count)
{
    json_end_array(run->json);
    json_text(run->json, "verdict", verdict);
    json_number(run->json, "count", count);
    json_number(run->json, "breach_count", check_run_breach_count(run));
}

void check_run_put_rules(const struct check_run *run)
{
    json_begin_array(run->json, "rules");
    for (unsigned rule = run->first_rule; rule < run->rule_end; rule++) {
        json_begin_object(run->json, NULL);
        if (run->has_numbers)
            json_number(run->json, "rule", rule);
        json_text(run->json, run->has_numbers ? "text" : "rule", run->rule_text(rule));
        json_number(run->json, "breaches", run->breaches[rule]);
        json_end_object(run->json);
    }
    json_end_array(run->json);
}

void check_run_print_rules(const struct check_run *run)
{
    uint64_t all = check_run_breach_count(run);
    if (all > run->printed)
        printf("and %" PRIu64 " more (--limit=N prints more)\n", all - run->printed);
    for (unsigned rule = run->first_rule; rule < run->rule_end; rule++) {
        uint64_t count = run->breaches[rule];
        if (count > 0 && run->has_numbers)
            printf("rule %u (%s): %" PRIu64 " %s\n", rule, run->rule_text(rule), count,
                   breaches(count));
        else if (count > 0)
            printf("%s: %" PRIu64 " %s\n", run->rule_text(rule), count, breaches(count));
    }
}
