/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace version: prints the version of this program, its formats and its features, and where
 * the libraries are that other programs load. */
#include <limits.h>
#include <stdio.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/commands/commit.h"
#include "converter/recorders/recording.h"
#include "format/json/json_output.h"
#include "steptrace/live.h"

VERB(version);

static const char *const features[] = {
#if STEPTRACE_ZSTD
    "zstd",
#endif
    "zlib",
#if STEPTRACE_XZ
    "xz",
#endif
};

/* The versions that are written; docs/formats/versions.md lists those that can be read. */
static const struct {
    const char *name, *version;
} formats[] = {{"step", "1"}, {"live", "3"}, {"hatf", "1.0"}, {"metatf", "1.0"}};
_Static_assert(STEP_LIVE_VERSION == 3, "a row of `formats`");

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void verb_version_print_text(void)
{
    printf("steptrace %s\ncommit    %s\nfeatures ", STEPTRACE_VERSION, STEPTRACE_COMMIT);
    for (size_t i = 0; i < LENGTH(features); i++)
        printf(" %s", features[i]);
    printf("\nformats  ");
    for (size_t i = 0; i < LENGTH(formats); i++)
        printf("%s %s %s", i > 0 ? "," : "", formats[i].name, formats[i].version);
    putchar('\n');
}

static void verb_version_print_json(void)
{
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "version", STEPTRACE_VERSION);
    json_text(&json, "commit", STEPTRACE_COMMIT);
    json_begin_array(&json, "features");
    for (size_t i = 0; i < LENGTH(features); i++)
        json_text(&json, NULL, features[i]);
    json_end_array(&json);
    json_begin_object(&json, "formats");
    for (size_t i = 0; i < LENGTH(formats); i++)
        json_text(&json, formats[i].name, formats[i].version);
    json_end_object(&json);
    json_close(&json);
}

/* Prints the path of a recorder as the commands that use it find it. */
static enum step_status verb_version_print_path(const char *library, const char *directory,
                                                const char *variable)
{
    char path[PATH_MAX];
    if (!component_find(library, directory, NULL, variable, path)) {
        report_line("%s is not installed", library);
        return STEP_STATUS_IO;
    }
    puts(path);
    return STEP_STATUS_OK;
}

enum step_status verb_version(int argc, char **argv)
{
    static const struct verb_help help = {
        "version", "[--json | --agent-path | --malloc-path]",
        "Prints the version, the commit it was built from, how it can compress, and the\n"
        "versions of the formats that it writes. With --agent-path, prints only the path\n"
        "of the agent, as `steptrace record` finds it, for use as in\n"
        "java -agentpath:$(steptrace version --agent-path)=file=run.step\n"};
    bool as_json = false, of_agent = false, of_malloc = false;
    const struct option_row rows[] = {
        {"json", 0, NULL, "as JSON", take_flag, &as_json},
        {"agent-path", 0, NULL, "print the path of the agent, for -agentpath:", take_flag,
         &of_agent},
        {"malloc-path", 0, NULL,
         "print the path of the recorder of native programs, for LD_PRELOAD", take_flag,
         &of_malloc}};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 0, 0))
        return arguments.status;
    if (as_json + of_agent + of_malloc > 1)
        return arguments_fault(&arguments,
                               "--json, --agent-path and --malloc-path exclude each other");
    if (of_agent)
        return verb_version_print_path("libtracer.so", "../agent", "STEPTRACE_AGENT");
    if (of_malloc)
        return verb_version_print_path("libmalloctracer.so", "../malloc-recorder",
                                       "STEPTRACE_MALLOC_LIBRARY");
    if (as_json)
        verb_version_print_json();
    else
        verb_version_print_text();
    return STEP_STATUS_OK;
}
