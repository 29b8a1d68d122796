/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a native trace: the program, its clock, its end. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/clock.h"
#include "malloc-recorder/drain/native_trace.h"

static void put_property(struct native_trace *trace, const char *key, const char *value)
{
    step_writer_property(trace->writer, key, value);
}

static void put_number(struct native_trace *trace, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put_property(trace, key, text);
}

static void put_command_line(struct native_trace *trace)
{
    char text[4096];
    snprintf(text, sizeof text, "/proc/%" PRIu64 "/cmdline", trace->process);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return;
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (ssize_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[length] = '\0';
    put_property(trace, "command-line", text);
}

void native_trace_describe(struct native_trace *trace)
{
    char host[256] = "";
    clock_uses_counter = trace->numbers.uses_counter != 0;
    gethostname(host, sizeof host - 1);
    put_property(trace, "producer", "StepTrace libmalloctracer.so " STEPTRACE_VERSION);
    put_property(trace, "events", "alloc+free+realloc+thread");
    put_property(trace, "options", trace->options);
    put_number(trace, "resolution-ns", 1);
    put_property(trace, "clock", clock_name());
    put_number(trace, "start-time-ns", trace->numbers.start_wall_ns);
    put_property(trace, "host", host);
    put_number(trace, "process-id", trace->process);
    if (trace->numbers.parent_process != 0)
        put_number(trace, "parent-process", trace->numbers.parent_process);
    if (trace->numbers.parent != 0)
        put_number(trace, "forked-from", trace->numbers.parent);
    if (trace->numbers.fork_stamp != 0)
        put_number(trace, "forked-at-stamp", trace->numbers.fork_stamp);
    put_command_line(trace);
}

/* With the clock, stamps of forks can be converted to times of this trace. */
void native_trace_describe_clock(struct native_trace *trace)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 ">>%" PRIu32, trace->header->clock_multiplier,
             trace->header->clock_shift);
    put_property(trace, "clock-scale", text);
}
