/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the agent's options: defaults, the text, then constraints between options. Prints the
 * help. */
#include "agent/base/agent_options.h"

#include <stdio.h>
#include <string.h>

#include "agent/base/internals.h"
#include "agent/base/option_table.h"
#include "capture/log.h"

static void set_defaults(struct options *options)
{
    memset(options, 0, sizeof *options);
    options->events = EVENT_DEFAULT;
    options->engine = ENGINE_BYTECODE;
    options->existing = true;
    options->mode = 0600;
    options->resolution_ns = 1000;
    options->buffer_bytes = UINT64_C(64) << 20;
    options->finish_ns = UINT64_C(5000000000);
    options->level = 3;
    options->sample_bytes = OPTION_SAMPLE_DEFAULT;
    options->live = OPTION_LIVE_DEFAULT;
    options->keep = OPTION_KEEP_DEFAULT;
    options->file_number = 1;
    options->internals = INTERNALS_ALL;
    options->phases = options->phases_known = true;
}

/* Returns false if the text is too long; counts other faults. */
static bool parse_text(struct option_parse *parse, const char *text)
{
    struct options *options = parse->options;
    set_defaults(options);
    option_parse_file(parse, "file", OPTION_FILE_DEFAULT, options->file, sizeof options->file);
    if (text != NULL && strlen(text) >= sizeof options->text) {
        log_message("the options are longer than %zu characters; use options=FILE",
                    sizeof options->text - 1);
        return false;
    }
    if (text != NULL) {
        char copy[sizeof options->text];
        snprintf(options->text, sizeof options->text, "%s", text);
        snprintf(copy, sizeof copy, "%s", text);
        options_parse_text(parse, copy, ",");
    }
    return true;
}

bool options_parse_shared(struct options *options, const char *text)
{
    struct option_parse parse = {.options = options, .only_shared = true};
    return parse_text(&parse, text) && parse.faults == 0;
}

bool options_parse(struct options *options, const char *text)
{
    struct option_parse parse = {.options = options};
    if (!parse_text(&parse, text))
        return false;
    option_rules_apply(&parse);
    return parse.faults == 0;
}

void options_print_help(void)
{
    log_message("java -agentpath:/path/to/libtracer.so=key=value,key=value,... records a complete "
                "trace\n\n  %-11s %-34s %-24s %s",
                "option", "values", "default", "meaning");
    for (size_t i = 0; i < option_count; i++)
        fprintf(stderr, "  %-11s %-34s %-24s %s\n", option_table[i].key, option_table[i].values,
                option_table[i].fallback, option_table[i].meaning);
    fprintf(stderr, "\nLoaded into a running JVM the agent also takes: start, stop, flush, "
                    "status, snapshot\n");
}
