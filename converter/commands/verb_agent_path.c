/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace agent-path: prints the paths of the libraries that other programs load. */
#include <limits.h>
#include <stdio.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/recorders/recording.h"

VERB(agent_path);

static const struct verb_help help = {
    "agent-path", "[OPTION]...",
    "Prints the path of the agent, as `steptrace record` finds it. For use as in\n"
    "java -agentpath:$(steptrace agent-path)=file=run.step\n"};

enum step_status verb_agent_path(int argc, char **argv)
{
    bool of_malloc = false;
    char path[PATH_MAX];
    const struct option_row rows[] = {
        {"malloc", 0, NULL, "print the path of the recorder of native programs, for LD_PRELOAD",
         take_flag, &of_malloc}};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 0, 0))
        return arguments.status;
    bool is_found = of_malloc
                        ? component_find("libmalloctracer.so", "../malloc-recorder", NULL,
                                         "STEPTRACE_MALLOC_LIBRARY", path)
                        : component_find("libtracer.so", "../agent", NULL, "STEPTRACE_AGENT", path);
    if (!is_found) {
        report_line("%s is not installed", of_malloc ? "libmalloctracer.so" : "libtracer.so");
        return STEP_STATUS_IO;
    }
    puts(path);
    return STEP_STATUS_OK;
}
