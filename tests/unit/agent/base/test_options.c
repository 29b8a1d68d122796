/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's options: defaults, every key, every kind of fault, globs. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/agent_options.h"
#include "agent/base/internals.h"
#include "tests/unit/run_suite.h"

static struct options options;

static void test_defaults(void)
{
    CU_ASSERT_TRUE(options_parse(&options, NULL));
    CU_ASSERT_EQUAL(options.events, TRACED_DEFAULT);
    CU_ASSERT_EQUAL(options.resolution_ns, 1000);
    CU_ASSERT_EQUAL(options.buffer_bytes, 64u << 20);
    CU_ASSERT_EQUAL(options.overflow, OVERFLOW_BLOCK);
    CU_ASSERT_EQUAL(options.ring, RING_MEMORY);
    CU_ASSERT_TRUE(options.existing);
    CU_ASSERT_FALSE(options.overwrite);
    CU_ASSERT_EQUAL(options.mode, 0600);
    CU_ASSERT_EQUAL(options.limit_bytes, 0);
    CU_ASSERT_EQUAL(options.finish_ns, UINT64_C(5000000000));
    CU_ASSERT_PTR_NOT_NULL(strstr(options.file, ".step"));
}

static void test_every_key(void)
{
    CU_ASSERT_TRUE(options_parse(
        &options, "file=a.step,events=alloc+free+method,engine=jvmti,resolution=1ns,"
                  "existing=no,gentle=yes,overflow=drop,ring=file,buffer=2m,limit=1g,level=9,"
                  "memory=64m,clock=monotonic,include=a/*+b.**,exclude=c/D,"
                  "stack=16,walk=check,required=yes,finish=0ms,overwrite=yes,"
                  "mode=0640,layout=yes,places=bytecode,duration=90"));
    CU_ASSERT_EQUAL(options.probes, PROBES_RESTORED);
    CU_ASSERT_EQUAL(options.duration_ns, UINT64_C(90000000000));
    CU_ASSERT_TRUE(options.indexes);
    CU_ASSERT_TRUE(options.layout);
    CU_ASSERT_TRUE(options.overwrite);
    CU_ASSERT_EQUAL(options.mode, 0640);
    CU_ASSERT_TRUE(options.required);
    CU_ASSERT_EQUAL(options.finish_ns, 0);
    CU_ASSERT_STRING_EQUAL(options.file, "a.step");
    CU_ASSERT_EQUAL(options.events, TRACED_ALLOC | TRACED_FREE | TRACED_METHOD);
    CU_ASSERT_EQUAL(options.resolution_ns, 1);
    CU_ASSERT_FALSE(options.existing);
    CU_ASSERT_EQUAL(options.gentle, GENTLE_YES);
    CU_ASSERT_EQUAL(options.memory_bytes, 64u << 20);
    CU_ASSERT_EQUAL(options.overflow, OVERFLOW_DROP);
    CU_ASSERT_EQUAL(options.ring, RING_FILE);
    CU_ASSERT_EQUAL(options.buffer_bytes, 2u << 20);
    CU_ASSERT_EQUAL(options.limit_bytes, 1u << 30);
    CU_ASSERT_EQUAL(options.level, 9);
    CU_ASSERT_EQUAL(options.clock, CLOCK_MONOTONIC_NS);
    CU_ASSERT_EQUAL(options.stack, 16);
    CU_ASSERT_EQUAL(options.walk, WALK_CHECK);
    CU_ASSERT_EQUAL(options.include.count, 2);
    CU_ASSERT_EQUAL(options.exclude.count, 1);
}

static void test_guards(void)
{
    CU_ASSERT_TRUE(options_parse(&options, ""));
    CU_ASSERT(options.max_cpu == 0 && options.max_pause_ns == 0 && options.wake[0] == '\0');
    CU_ASSERT_TRUE(options_parse(&options, "max-cpu=2%,max-pause=10ms,max-memory=64m"));
    CU_ASSERT(options.max_cpu == 200 && options.max_pause_ns == 10000000);
    CU_ASSERT_EQUAL(options.memory_bytes, 64u << 20);
    CU_ASSERT_TRUE(options_parse(&options, "max-cpu=0.01%,max-pause=1us"));
    CU_ASSERT(options.max_cpu == 1 && options.max_pause_ns == 1000);
    CU_ASSERT_TRUE(options_parse(&options, "max-cpu=0.5%,max-cpu=12.34%,max-pause=60s"));
    CU_ASSERT(options.max_cpu == 1234 && options.max_pause_ns == UINT64_C(60000000000));
    CU_ASSERT_TRUE(options_parse(&options, "max-cpu=100.00%,dormant,wake=/run/%%w"));
    CU_ASSERT(options.max_cpu == 10000 && options.command == COMMAND_DORMANT);
    CU_ASSERT_STRING_EQUAL(options.wake, "/run/%w");
    static const char *const faults[] = {
        "0%",  "0.00%", "101%", "100.01%", "2",     "%",    "2.%", ".5%", "-1%",  "1.234%",
        "2%%", " 2%",   "2 %",  "1e1%",    "1000%", "0x2%", "2.5", "",    "2.5%x"};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "max-cpu=%s", faults[i]);
        CU_ASSERT_FALSE(options_parse(&options, text));
    }
}

static void test_internals(void)
{
    CU_ASSERT_TRUE(options_parse(&options, ""));
    CU_ASSERT_EQUAL(options.internals, INTERNALS_ALL);
    CU_ASSERT_TRUE(options_parse(&options, "internals=safe"));
    CU_ASSERT_EQUAL(options.internals & INTERNALS_WRITES, 0);
    CU_ASSERT_EQUAL(options.internals | INTERNALS_WRITES, INTERNALS_ALL);
    CU_ASSERT_FALSE(options.internals_proven);
    CU_ASSERT_TRUE(options_parse(&options, "internals=safe,internals=auto"));
    CU_ASSERT_EQUAL(options.internals, INTERNALS_ALL);
    CU_ASSERT_TRUE(options_parse(&options, "internals=none"));
    CU_ASSERT_EQUAL(options.internals, 0);
    CU_ASSERT_FALSE(options_parse(&options, "internals=safe+tan"));
}

static void test_walk(void)
{
    CU_ASSERT_TRUE(options_parse(&options, "engine=walk"));
    CU_ASSERT_EQUAL(options.engine, ENGINE_WALK);
    CU_ASSERT_EQUAL(options.events, TRACED_CLASS | TRACED_ALLOC | TRACED_THREAD);
    CU_ASSERT(options.share == 5 && !options.existing);
    CU_ASSERT_TRUE(options_parse(&options, "events=alloc,share=100,engine=walk"));
    CU_ASSERT_EQUAL(options.events, TRACED_CLASS | TRACED_ALLOC);
    CU_ASSERT_EQUAL(options.share, 100);
}

static void test_sampled(void)
{
    CU_ASSERT_TRUE(options_parse(&options, "engine=sampled"));
    CU_ASSERT_EQUAL(options.engine, ENGINE_SAMPLED);
    CU_ASSERT_EQUAL(options.sample_bytes, 524288);
    CU_ASSERT_EQUAL(options.stack, 16);
    CU_ASSERT_EQUAL(options.internals, 0);
    CU_ASSERT_EQUAL(options.walk, WALK_JVMTI);
    CU_ASSERT_FALSE(options.existing);
    CU_ASSERT_TRUE(
        options_parse(&options, "sample=1g,stack=0,engine=sampled,internals=none,existing=no"));
    CU_ASSERT_EQUAL(options.sample_bytes, 1u << 30);
    CU_ASSERT_EQUAL(options.stack, 0);
    CU_ASSERT_TRUE(options_parse(&options, "engine=sampled,walk=auto,internals=safe,sample=1"));
    CU_ASSERT(options.rate == 0 && options.live == 100000 && options.rotate_ns == 0);
    CU_ASSERT_EQUAL(options.file_number, 1);
    CU_ASSERT_TRUE(options_parse(&options, "engine=sampled,rate=2k,live=100,rotate=5min,keep=3"));
    CU_ASSERT(options.rate == 2000 && options.live == 100 && options.keep == 3);
    CU_ASSERT_EQUAL(options.rotate_ns, UINT64_C(300000000000));
    CU_ASSERT_TRUE(options_parse(&options, "engine=sampled,rate=1,rate=none,rotate=1s"));
    CU_ASSERT(options.rate == 0 && options.keep == 12);
    CU_ASSERT_EQUAL(options.internals, 0);
    CU_ASSERT_TRUE(options_parse(&options, "start,window=10s"));
    CU_ASSERT_EQUAL(options.window_ns, UINT64_C(10000000000));
    CU_ASSERT_TRUE(options_parse(&options, "window=1ms,stop=a.B.c,events=alloc+free"));
    CU_ASSERT_FALSE(options_parse(&options, "window=10s,engine=sampled"));
    CU_ASSERT_FALSE(options_parse(&options, "window=10s,engine=jvmti"));
    CU_ASSERT_TRUE(options_parse(&options, "window=10s,start=a.B.c+d.**.e,gentle=yes"));
    char methods[16];
    options_list_methods(&options, &options.start_at, methods, sizeof methods);
    CU_ASSERT_STRING_EQUAL(methods, "a.B.c+d.**.e");
    options_list_methods(&options, &options.start_at, methods, 9);
    CU_ASSERT_STRING_EQUAL(methods, "a.B.c+d.");
    CU_ASSERT_FALSE(options_parse(&options, "start=a.B.c,gentle=yes"));
    CU_ASSERT_FALSE(options_parse(&options, "window=10s,snapshot=end"));
    CU_ASSERT_FALSE(options_parse(&options, "window=10s,events=reference"));
    CU_ASSERT_FALSE(options_parse(&options, "window=0"));
    CU_ASSERT_FALSE(options_parse(&options, "window=61min"));
    CU_ASSERT_TRUE(options_parse(&options, ""));
    CU_ASSERT_EQUAL(options.stack, 0);
}

static void test_no_times(void)
{
    CU_ASSERT_TRUE(options_parse(&options, "resolution=none,events=all,method=count"));
    CU_ASSERT_EQUAL(options.resolution_ns, 0);
    CU_ASSERT_FALSE(options_parse_shared(&options, "resolution=none"));
}

static void test_stamps_of_some(void)
{
    CU_ASSERT_TRUE(options_parse(&options, ""));
    CU_ASSERT_EQUAL(options.stamp_events, 1);
    CU_ASSERT_TRUE(options_parse(&options, "resolution=16events,events=all"));
    CU_ASSERT_EQUAL(options.stamp_events, 16);
    CU_ASSERT_EQUAL(options.resolution_ns, 1000);
    CU_ASSERT_TRUE(options_parse(&options, "resolution=1ns,resolution=65536events"));
    CU_ASSERT_EQUAL(options.stamp_events, 65536);
    CU_ASSERT_EQUAL(options.resolution_ns, 1000);
    CU_ASSERT_TRUE(options_parse(&options, "resolution=16events,resolution=1ns"));
    CU_ASSERT_EQUAL(options.stamp_events, 1);
    CU_ASSERT_EQUAL(options.resolution_ns, 1);
    CU_ASSERT_TRUE(options_parse(&options, "resolution=16events,resolution=none"));
    CU_ASSERT_EQUAL(options.stamp_events, 1);
    CU_ASSERT_EQUAL(options.resolution_ns, 0);
    CU_ASSERT_TRUE(options_parse(&options, "resolution=1events"));
    CU_ASSERT_EQUAL(options.stamp_events, 1);
    CU_ASSERT_FALSE(options_parse_shared(&options, "resolution=16events"));
}

static void test_references(void)
{
    char names[64];
    CU_ASSERT_TRUE(
        options_parse(&options, "events=reference,snapshot=start+end+every:30s,collect=4k"));
    CU_ASSERT_EQUAL(options.events, TRACED_ALLOC | TRACED_FREE | TRACED_REFERENCE);
    CU_ASSERT_EQUAL(options.snapshots, SNAPSHOT_START | SNAPSHOT_END);
    CU_ASSERT_EQUAL(options.snapshot_every_ns, UINT64_C(30000000000));
    CU_ASSERT_TRUE(options.collects);
    CU_ASSERT_EQUAL(options.collect_every_bytes, 4096);
    options_event_names(options.events, names, sizeof names);
    CU_ASSERT_STRING_EQUAL(names, "alloc+free+reference");
    CU_ASSERT_TRUE(options_parse(&options, "collect=0,events=all"));
    CU_ASSERT_TRUE(options.collects);
    CU_ASSERT_EQUAL(options.collect_every_bytes, 0);
    CU_ASSERT_EQUAL(options.events, TRACED_ALL);
    CU_ASSERT_FALSE(options_parse(&options, "events=reference,engine=jvmti"));
    CU_ASSERT_FALSE(options_parse(&options, "collect=1m,engine=jvmti"));
    CU_ASSERT_FALSE(options_parse(&options, "snapshot=end,events=alloc"));
    CU_ASSERT_FALSE(options_parse(&options, "snapshot=middle"));
    CU_ASSERT_FALSE(options_parse(&options, "snapshot=end:0s"));
    CU_ASSERT_TRUE_FATAL(options_parse(&options, "snapshot=end:1s"));
    CU_ASSERT_EQUAL(options.snapshots, SNAPSHOT_END);
    CU_ASSERT_EQUAL(options.snapshot_most_ns, UINT64_C(1000000000));
    CU_ASSERT_TRUE_FATAL(options_parse(&options, "snapshot=end:1s,snapshot=start"));
    CU_ASSERT_EQUAL(options.snapshots, SNAPSHOT_START);
    CU_ASSERT_EQUAL(options.snapshot_most_ns, 0);
    static const char *const without[] = {
        "snapshot=end:1s,events=alloc", "snapshot=end:1s,resolution=none",
        "snapshot=end:1s,engine=sampled", "snapshot=end:1s,window=10s"};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        CU_ASSERT_TRUE(options_parse(&options, without[i]));
        CU_ASSERT_EQUAL(options.snapshots, 0);
    }
    CU_ASSERT_FALSE(options_parse(&options, "snapshot=every:0s"));
    CU_ASSERT_FALSE(options_parse(&options, "snapshot="));
    CU_ASSERT_FALSE(options_parse(&options, "collect=-1"));
    CU_ASSERT_TRUE_FATAL(options_parse(&options, "end=collect,engine=jvmti"));
    CU_ASSERT_EQUAL(options.end, END_COLLECTED);
    CU_ASSERT_FALSE(options.collects);
    CU_ASSERT_FALSE(options_parse(&options, "end=collect,events=alloc"));
    CU_ASSERT_FALSE(options_parse(&options, "end=early"));
}

static void test_file_names(void)
{
    char wanted[64];
    CU_ASSERT_TRUE(options_parse(&options, "file=x-%p-100%%.step"));
    snprintf(wanted, sizeof wanted, "x-%ld-100%%.step", (long) getpid());
    CU_ASSERT_STRING_EQUAL(options.file, wanted);
    CU_ASSERT_TRUE(options_parse(&options, "file=%h-%t"));
    CU_ASSERT_PTR_NULL(strchr(options.file, '%'));
    CU_ASSERT_FALSE(options_parse(&options, "file=%q"));
    CU_ASSERT_FALSE(options_parse(&options, "file=x%"));
    CU_ASSERT_FALSE(options_parse(&options, "file="));
}

static void test_faults(void)
{
    static const char *const bad[] = {
        "nonsense",
        "nonsense=1",
        "events=",
        "events=alloc+birds",
        "events=free",
        "engine=magic",
        "resolution=fast",
        "resolution=0",
        "resolution=None",
        "resolution=0events",
        "resolution=65537events",
        "resolution=18446744073709551617events",
        "resolution=events",
        "resolution=16event",
        "resolution=16",
        "resolution=-16events",
        "resolution=none,events=reference",
        "resolution=none,snapshot=end",
        "resolution=none,snapshot=every:1s",
        "resolution=2s1",
        "existing=1",
        "places=index",
        "places=bytecode,stack=4",
        "places=bytecode,engine=jvmti",
        "gentle=1",
        "probes=yes",
        "probes=keep,events=alloc+free+method",
        "probes=keep,events=reference",
        "probes=keep,events=alloc,engine=jvmti",
        "probes=keep,events=alloc,start=a/B.c",
        "probes=keep,method=count,events=alloc",
        "memory=1m",
        "max-memory=1m",
        "max-pause=10",
        "max-pause=0ms",
        "max-pause=61s",
        "wake=",
        "gentle=yes,start=a/B.c",
        "required=perhaps",
        "overwrite=1",
        "mode=",
        "mode=400",
        "mode=700",
        "mode=4600",
        "mode=60 0",
        "mode=-600",
        "overflow=",
        "ring=disk",
        "buffer=1",
        "limit=12q",
        "level=20",
        "level=0",
        "clock=sundial",
        "limit=-1",
        "buffer=99999999999999999999g",
        "options=/no/such/file",
        "method=some",
        "share=50",
        "engine=walk,share=0",
        "engine=walk,share=101",
        "engine=walk,events=class",
        "engine=walk,events=alloc+free",
        "engine=walk,events=all",
        "engine=walk,method=count",
        "engine=walk,stack=8",
        "engine=walk,existing=yes",
        "engine=walk,snapshot=end",
        "engine=walk,layout=yes",
        "engine=walk,phase=a.B.c",
        "engine=walk,start=a.B.c",
        "engine=walk,collect=1m",
        "engine=walk,rotate=1s",
        "engine=walk,resolution=none",
        "engine=walk,end=collect",
        "engine=sampled,sample=0",
        "engine=sampled,sample=1025m",
        "engine=sampled,sample=-1",
        "engine=sampled,sample=",
        "sample=64k",
        "sample=64k,engine=jvmti",
        "engine=sampled,events=class",
        "engine=sampled,events=all",
        "engine=sampled,events=reference",
        "engine=sampled,method=count",
        "engine=sampled,phase=a.B.c",
        "engine=sampled,existing=yes",
        "engine=sampled,snapshot=end",
        "engine=sampled,collect=1m",
        "engine=sampled,start=a.B.c",
        "engine=sampled,walk=check",
        "engine=sampled,rate=0",
        "engine=sampled,rate=2m",
        "engine=sampled,live=99",
        "engine=sampled,live=11m",
        "engine=sampled,rotate=999ms",
        "engine=sampled,rotate=0",
        "engine=sampled,rotate=1s,keep=1",
        "engine=sampled,keep=3",
        "engine=sampled,resolution=none",
        "engine=sampled,resolution=2ms",
        "rate=100",
        "live=1k",
        "rotate=5min",
        "start=main",
        "phase=main",
        "phase=program:",
        "phase=threads:",
        "phase=a.B.c,events=class+thread",
        "start=.main",
        "stop=a.B.",
        "stop=a.b/c",
        "start=a.B.c,engine=jvmti",
        "stop=a.B.c,events=class",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (options_parse(&options, bad[i]))
            fprintf(stderr, "accepted: %s\n", bad[i]);
        CU_ASSERT_FALSE(options_parse(&options, bad[i]));
    }
}

static void test_options_file(void)
{
    char path[] = "/tmp/steptrace-options-XXXXXX", text[128];
    int descriptor = mkstemp(path);
    CU_ASSERT_TRUE_FATAL(descriptor >= 0);
    const char lines[] = "# a comment, with=signs\nevents=class+thread\nlevel=5 # more\n";
    CU_ASSERT_EQUAL(write(descriptor, lines, sizeof lines - 1), (ssize_t) sizeof lines - 1);
    close(descriptor);
    snprintf(text, sizeof text, "options=%s,existing=no", path);
    CU_ASSERT_TRUE(options_parse(&options, text));
    CU_ASSERT_EQUAL(options.events, TRACED_CLASS | TRACED_THREAD);
    CU_ASSERT_EQUAL(options.level, 5);
    CU_ASSERT_FALSE(options.existing);
    unlink(path);
}

/* What only Java has is unknown to the recorder of native programs, also in a file. */
static void test_shared(void)
{
    static const char *const java[] = {"engine=jvmti", "internals=none", "events=class",
                                       "clock=tsc",    "start=A.b",      "walk=auto",
                                       "stop"};
    char path[] = "/tmp/steptrace-options-XXXXXX", text[128];
    CU_ASSERT_TRUE(options_parse_shared(&options, "file=a.step,buffer=2m,limit=1m,level=9"));
    CU_ASSERT_EQUAL(options.level, 9);
    CU_ASSERT_TRUE(options_parse_shared(&options, "overflow=drop,stack=16"));
    for (size_t i = 0; i < sizeof java / sizeof java[0]; i++)
        CU_ASSERT_FALSE(options_parse_shared(&options, java[i]));
    int descriptor = mkstemp(path);
    CU_ASSERT_TRUE_FATAL(descriptor >= 0);
    CU_ASSERT_EQUAL(write(descriptor, "level=5 walk=jvmti\n", 19), 19);
    close(descriptor);
    snprintf(text, sizeof text, "options=%s", path);
    CU_ASSERT_TRUE(options_parse(&options, text));
    CU_ASSERT_FALSE(options_parse_shared(&options, text));
    unlink(path);
}

static void test_globs(void)
{
    CU_ASSERT_TRUE(options_parse(&options, "include=com/**+org/A?c,exclude=com/b/*"));
    CU_ASSERT_TRUE(options_trace_class(&options, "com/X"));
    CU_ASSERT_TRUE(options_trace_class(&options, "com/b/c/X"));
    CU_ASSERT_FALSE(options_trace_class(&options, "com/b/X"));
    CU_ASSERT_TRUE(options_trace_class(&options, "org/Abc"));
    CU_ASSERT_FALSE(options_trace_class(&options, "org/Abbc"));
    CU_ASSERT_FALSE(options_trace_class(&options, "java/lang/String"));
    CU_ASSERT_TRUE(options_parse(&options, ""));
    CU_ASSERT_TRUE(options_trace_class(&options, "java/lang/String"));
}

static void test_phases(void)
{
    CU_ASSERT_TRUE(options_parse(&options, ""));
    CU_ASSERT_TRUE(options.phases && options.phases_known);
    CU_ASSERT_EQUAL(options.events, TRACED_DEFAULT);
    CU_ASSERT_TRUE(options_parse(
        &options, "phase=a.B.c+program:a.B.d+threads:a.B.e,events=alloc,phase=x.Y.*"));
    CU_ASSERT_TRUE(options.phases && !options.phases_known);
    CU_ASSERT_EQUAL(options.events, TRACED_ALLOC | TRACED_PHASE);
    CU_ASSERT_EQUAL(options.phase_at.count, 2);
    CU_ASSERT_TRUE(options_names_method(&options, &options.phase_at, "x/Y", "z"));
    CU_ASSERT_TRUE(options_names_method(&options, &options.program_phase_at, "a/B", "d"));
    CU_ASSERT_TRUE(options_names_method(&options, &options.threads_phase_at, "a/B", "e"));
    CU_ASSERT_FALSE(options_names_method(&options, &options.phase_at, "a/B", "e"));
    CU_ASSERT_TRUE(options_parse(&options, "phase=a.B.c+auto"));
    CU_ASSERT_TRUE(options.phases && options.phases_known);
    CU_ASSERT_TRUE(options_parse(&options, "phase=none"));
    CU_ASSERT_FALSE(options.phases);
    CU_ASSERT_EQUAL(options.events, TRACED_DEFAULT);
}

static void test_methods(void)
{
    static struct options copy;
    CU_ASSERT_TRUE(options_parse(&options, "start=a.b.C.run+a/*.<init>,stop=**.get*,method=count"));
    copy = options;
    memset(&options, 0, sizeof options);
    CU_ASSERT_EQUAL(copy.events, TRACED_ALL);
    CU_ASSERT_EQUAL(copy.method, METHOD_COUNT);
    CU_ASSERT_EQUAL(copy.start_at.count, 2);
    CU_ASSERT_TRUE(options_names_method(&copy, &copy.start_at, "a/b/C", "run"));
    CU_ASSERT_TRUE(options_names_method(&copy, &copy.start_at, "a/b/C", NULL));
    CU_ASSERT_FALSE(options_names_method(&copy, &copy.start_at, "a/b/C", "runs"));
    CU_ASSERT_FALSE(options_names_method(&copy, &copy.start_at, "a/b/D", NULL));
    CU_ASSERT_TRUE(options_names_method(&copy, &copy.start_at, "a/X", "<init>"));
    CU_ASSERT_FALSE(options_names_method(&copy, &copy.stop_at, "a/X", "<init>"));
    CU_ASSERT_TRUE(options_names_method(&copy, &copy.stop_at, "a/b/c/X", "getAll"));
}

static void test_commands(void)
{
    CU_ASSERT_TRUE(options_parse(&options, "stop"));
    CU_ASSERT_EQUAL(options.command, COMMAND_STOP);
    CU_ASSERT_TRUE(options_parse(&options, "start,file=b.step"));
    CU_ASSERT_EQUAL(options.command, COMMAND_START);
    CU_ASSERT_TRUE(options_parse(&options, "help"));
    CU_ASSERT_TRUE(options.help);
    options.help = false;
    CU_ASSERT_TRUE(options_parse_shared(&options, "help"));
    CU_ASSERT_TRUE(options.help);
}

/* Limits have units in which they can be written. */
static void test_limits(void)
{
    char text[256] = "";
    FILE *told = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(told);
    int kept = dup(STDERR_FILENO);
    dup2(fileno(told), STDERR_FILENO);
    CU_ASSERT_FALSE(options_parse(&options, "engine=sampled,rotate=64k"));
    dup2(kept, STDERR_FILENO);
    close(kept);
    CU_ASSERT(pread(fileno(told), text, sizeof text - 1, 0) > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "'64k' is not a number from 1s to 43200min with a unit"));
    fclose(told);
}

#define COLUMNS 80u

/* On a terminal of 80 columns no line is broken. */
static void test_help(void)
{
    for (int shared = 0; shared < 2; shared++) {
        char *text = NULL;
        size_t size = 0;
        FILE *kept = stderr;
        stderr = open_memstream(&text, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stderr);
        options_print_help(shared != 0);
        fclose(stderr);
        stderr = kept;
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n  limit=SIZE (none)\n      end the trace"));
        CU_ASSERT_EQUAL(strstr(text, "\n  engine=") == NULL, shared != 0);
        for (char *line = text; line != NULL; line = strchr(line, '\n')) {
            line += *line == '\n';
            CU_ASSERT_TRUE(strcspn(line, "\n") <= COLUMNS);
        }
        free(text);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("options", NULL, NULL);
    CU_add_test(suite, "defaults", test_defaults);
    CU_add_test(suite, "every key", test_every_key);
    CU_add_test(suite, "limits with units", test_limits);
    CU_add_test(suite, "guards", test_guards);
    CU_add_test(suite, "internals", test_internals);
    CU_add_test(suite, "samples", test_sampled);
    CU_add_test(suite, "walks", test_walk);
    CU_add_test(suite, "no times", test_no_times);
    CU_add_test(suite, "stamps of some events", test_stamps_of_some);
    CU_add_test(suite, "references", test_references);
    CU_add_test(suite, "file names", test_file_names);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "options file", test_options_file);
    CU_add_test(suite, "shared with the recorder", test_shared);
    CU_add_test(suite, "globs", test_globs);
    CU_add_test(suite, "phases", test_phases);
    CU_add_test(suite, "methods", test_methods);
    CU_add_test(suite, "commands", test_commands);
    CU_add_test(suite, "help", test_help);
}
