/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace snapshot: adds a snapshot of all references to the trace that a JVM is recording. */
#include <limits.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/recorders/attach.h"
#include "converter/recorders/recording.h"

VERB(snapshot);

static const struct verb_help help = {
    "snapshot", "[--agent=PATH] PID",
    "Makes the agent in a traced JVM add a snapshot to the trace: all roots and all\n"
    "references between objects, while the program is stopped.\n"};

static enum step_status verb_snapshot_ask(const char *agent_named, pid_t pid)
{
    char agent[PATH_MAX];
    struct jvm_process process;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = jvm_process_find(pid, &process, &error);
    if (status != STEP_STATUS_OK) {
        report_error(&error);
        status = STEP_STATUS_IO;
    } else if (!agent_of(&process, agent_named, agent)) {
        status = STEP_STATUS_IO;
    } else if (attach_load(&process, agent, "snapshot", &error) != STEP_STATUS_OK) {
        status = report_error(&error);
    }
    jvm_process_close(&process);
    return status;
}

enum step_status verb_snapshot(int argc, char **argv)
{
    const char *agent = NULL, *fault;
    uint64_t pid;
    const struct option_row rows[] = {
        {"agent", 0, "PATH", "the agent, libtracer.so", take_text, &agent},
    };
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (!take_count(&pid, arguments.operands[0], &fault) || pid == 0 || pid > INT_MAX)
        return arguments_fault(&arguments, "'%s' is not a process id", arguments.operands[0]);
    return verb_snapshot_ask(agent, (pid_t) pid);
}
