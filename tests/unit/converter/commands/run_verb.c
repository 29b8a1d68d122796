/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands of the heart in this process, and small traces for them. */
#include "tests/unit/converter/commands/run_verb.h"

#include <CUnit/Basic.h>
#include <stdarg.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "converter/recorders/recording.h"
#include "converter/statistics/findings_maker.h"

VERB(stats);
VERB(info);
VERB(dump);
VERB(check);
VERB(convert);
VERB(pack);
VERB(recover);
VERB(help);
VERB(version);

const struct verb verbs[] = {
    {"stats", "print allocations", verb_stats, true, VERBS_LOOK},
    {"info", "print what a trace contains", verb_info, true, VERBS_LOOK},
    {"dump", "print [all] events: it's text", verb_dump, true, VERBS_LOOK},
    {"check", "check a trace", verb_check, true, VERBS_COMPARE},
    {"convert", "convert a trace", verb_convert, true, VERBS_CONVERT},
    {"pack", "rewrite a trace", verb_pack, true, VERBS_CONVERT},
    {"recover", "repair a trace", verb_recover, true, VERBS_CONVERT},
    {"help", "explain the commands", verb_help, false, VERBS_OTHER},
    {"version", "print the version", verb_version, false, VERBS_OTHER},
};
const size_t verb_count = sizeof verbs / sizeof verbs[0];
const char *const verbs_left_out[] = {NULL};
const struct page_maker *const page_maker = NULL;
const struct findings_maker *const findings_maker = NULL;

const char java_lines[] = "VS:0\n"
                          "VI:1000\n"
                          "CL:1000:java/lang/Object\n"
                          "CL:1000:[I\n"
                          "TB:1000:1\n"
                          "OA:1000:java/lang/Object:1\n"
                          "CL:1500:pack/Cart\n"
                          "TB:2000:2\n"
                          "OA:2000:pack/Cart:2\n"
                          "MN:2000:2:pack/Cart:<init>:2\n"
                          "MX:2500:2:pack/Cart:<init>\n"
                          "MN:2600:2:pack/Cart:main:0\n"
                          "OA:2700:[I:3\n"
                          "OA:2800:[I:4\n"
                          "FP:2900:2:pack/Cart:main\n"
                          "OF:3000:[I:3\n"
                          "OF:3000:[I:4\n"
                          "TE:3500:2\n"
                          "TE:4000:1\n"
                          "VD:4000\n";

const char heap_lines[] = "# HATF 1.0, by hand\n"
                          "createThread 0 0 0 1 0 1000\n"
                          "alloc 4096 32 0 1 0 2000\n"
                          "alloc 8192 100 0 1 0 2100\n"
                          "free 4096 0 0 1 0 2200\n"
                          "alloc 4096 24 0 1 0 2300\n"
                          "alloc 16384 84 0 1 0 2400\n"
                          "free 16384 0 0 1 0 2500\n"
                          "destroyThread 0 0 0 1 0 2600\n";

struct verb_result run_verb(const char *verb, ...)
{
    enum { MOST = 20 };
    static char words[MOST][512];
    char *arguments[MOST + 1] = {NULL};
    int count = 0;
    const char *word;
    va_list list;
    va_start(list, verb);
    while ((word = va_arg(list, const char *)) != NULL && count < MOST) {
        strncpy(words[count], word, sizeof words[0] - 1);
        arguments[count] = words[count];
        count++;
    }
    va_end(list);
    verb_exit_code = 0;
    scratch_listen();
    enum step_status status = verb_find(verb)->run(count, arguments);
    struct scratch_heard heard = scratch_hear();
    return (struct verb_result){status, heard.out, heard.err};
}

bool has_text(const char *text, const char *wanted)
{
    return strstr(text, wanted) != NULL;
}

const char *java_trace(const char *name)
{
    const char *lines = scratch_put_text("java.txt", java_lines), *path = scratch_path(name);
    struct verb_result result = run_verb("convert", lines, "-o", path, NULL);
    CU_ASSERT_EQUAL_FATAL(result.status, STEP_STATUS_OK);
    return path;
}
