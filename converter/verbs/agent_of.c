/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the agent for a JVM.  A JVM recognises a library that it has loaded only by the same
 * path. */
#include "converter/verbs/agent_of.h"

#include <limits.h>
#include <stdio.h>

#include "converter/base/error_report.h"
#include "converter/verbs/component.h"

bool agent_of(const struct jvm_process *process, const char *wanted, char *path)
{
    const char *loaded = process->agent;
    if (loaded[0] != '\0') { /* that file may be gone: steptrace.jar removes its own */
        snprintf(path, PATH_MAX, "%s", loaded);
        return true;
    }
    bool found = component_find("libtracer.so", "../agent", wanted, "STEPTRACE_AGENT", path);
    if (!found)
        report_line("libtracer.so cannot be found; --agent=PATH or STEPTRACE_AGENT names it");
    return found;
}
