/* SPDX-License-Identifier: Apache-2.0 */
/* `help` and `version`: what is made of the table of commands and their options. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/converter/commands/run_verb.h"
#include "tests/unit/run_suite.h"

/* Each command once, below the title of its group, whose titles come once. */
static void test_list(void)
{
    struct verb_result result = run_verb("help", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    for (size_t i = 0; i < verb_count; i++) {
        char line[128];
        snprintf(line, sizeof line, "\n  %-13s  %s\n", verbs[i].name, verbs[i].summary);
        const char *at = strstr(result.out, line);
        CU_ASSERT(at != NULL && strstr(at + 1, line) == NULL);
    }
    const char *look = strstr(result.out, "\nLook at a trace:\n");
    const char *convert = strstr(result.out, "\nConvert:\n");
    CU_ASSERT(look != NULL && convert != NULL && look < convert);
    CU_ASSERT_PTR_NULL(strstr(look + 1, "\nLook at a trace:"));
    CU_ASSERT_FALSE(has_text(result.out, "Record:")); /* a group without a command */
}

static void test_one(void)
{
    struct verb_result one = run_verb("help", "pack", NULL);
    CU_ASSERT_EQUAL(one.status, STEP_STATUS_OK);
    char *text = strdup(one.out);
    CU_ASSERT(has_text(text, "usage: steptrace pack IN -o OUT"));
    CU_ASSERT(has_text(text, "--together"));
    struct verb_result same = run_verb("pack", "--help", NULL);
    CU_ASSERT_STRING_EQUAL(same.out, text);
    free(text);
}

static void test_unknown(void)
{
    struct verb_result result = run_verb("help", "pakc", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT(has_text(result.err, "did you mean 'pack'?"));
    result = run_verb("help", "snapshot", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT(has_text(result.err, "`steptrace snapshot` is now `steptrace attach --snapshot`"));
    result = run_verb("help", "\033[2J", NULL); /* nothing that a terminal obeys */
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT_FALSE(has_text(result.err, "\033"));
}

/* A man page: nothing of a text is an instruction of troff's, each option is there. */
static void test_manual(void)
{
    struct verb_result result = run_verb("help", "--manual", "pack", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "\n.Dt STEPTRACE-PACK 1\n"));
    CU_ASSERT(has_text(result.out, "\n.It Fl b , Fl \\-block Ns = Ns Ar N\n"));
    CU_ASSERT_EQUAL(run_verb("help", "--manual", NULL).status, STEP_STATUS_INVALID);
    result = run_verb("help", "--manual", "convert", NULL); /* tables are between Bd and Ed */
    size_t begun = 0, ended = 0;
    for (const char *at = result.out; (at = strstr(at, "\n.Bd -literal\n")) != NULL; at++)
        begun++;
    for (const char *at = result.out; (at = strstr(at, "\n.Ed\n")) != NULL; at++)
        ended++;
    CU_ASSERT(begun > 0 && begun == ended);
}

/* The shells themselves say whether a script can be read. */
static bool is_read_by(const char *shell, const char *script)
{
    char command[700];
    snprintf(command, sizeof command, "command -v %s >/dev/null || exit 0; %s -n %s", shell, shell,
             script);
    return system(command) == 0;
}

static void test_completion(void)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (int i = 0; i < 3; i++) {
        char option[32];
        snprintf(option, sizeof option, "--completion=%s", shells[i]);
        struct verb_result result = run_verb("help", option, NULL);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
        const char *script = scratch_put_text(shells[i], result.out);
        CU_ASSERT(is_read_by(shells[i], script));
        for (size_t k = 0; k < verb_count; k++)
            CU_ASSERT(has_text(result.out, verbs[k].name));
        CU_ASSERT(has_text(result.out, "together"));
        CU_ASSERT(has_text(result.out, "peak end gc:") || has_text(result.out, "peak end gc\\:"));
    }
    struct verb_result result = run_verb("help", "--completion=csh", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT(has_text(result.err, "bash, zsh or fish is expected"));
}

/* zsh ends a description at ] and an argument at :, and any shell a text at its quote. */
static void test_quotes(void)
{
    struct verb_result result = run_verb("help", "--completion=zsh", NULL);
    CU_ASSERT(has_text(result.out, "'dump:print (all) events, it'\\''s text'"));
}

/* The shell's own function chooses among the options of the command that is typed. */
static void test_bash_completes(void)
{
    struct verb_result result = run_verb("help", "--completion=bash", NULL);
    char command[800];
    const char *script = scratch_put_text("script", result.out), *to = scratch_path("words");
    snprintf(
        command, sizeof command,
        "command -v bash >/dev/null || exit 7; bash -c '. %s; COMP_WORDS=(steptrace pack --to) "
        "COMP_CWORD=2; _steptrace; echo \"${COMPREPLY[@]}\"' >%s 2>/dev/null",
        script, to);
    int code = system(command);
    if (code != 7 * 256)
        CU_ASSERT_STRING_EQUAL(scratch_read(to, NULL), "--together=\n");
}

static void test_version(void)
{
    struct verb_result result = run_verb("version", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT_EQUAL(strncmp(result.out, "steptrace ", 10), 0);
    CU_ASSERT(has_text(result.out, "\nformats   step 1, live 3, hatf 1.0, metatf 1.0\n"));
    result = run_verb("version", "--json", NULL);
    CU_ASSERT(has_text(result.out, "\"step\": \"1\""));
    CU_ASSERT_EQUAL(run_verb("version", "--json", "--agent-path", NULL).status,
                    STEP_STATUS_INVALID);
}

/* A path in the environment is the only one that counts, there or not. */
static void test_paths(void)
{
    const char *agent = scratch_put_text("libtracer.so", "");
    setenv("STEPTRACE_AGENT", agent, 1);
    struct verb_result result = run_verb("version", "--agent-path", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(strncmp(result.out, agent, strlen(agent)) == 0);
    setenv("STEPTRACE_MALLOC_LIBRARY", scratch_path("none.so"), 1);
    result = run_verb("version", "--malloc-path", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_IO);
    CU_ASSERT_STRING_EQUAL(result.out, "");
    CU_ASSERT(has_text(result.err, "libmalloctracer.so is not installed"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("help and version", scratch_begin, scratch_end);
    CU_add_test(suite, "the list", test_list);
    CU_add_test(suite, "one command", test_one);
    CU_add_test(suite, "unknown commands", test_unknown);
    CU_add_test(suite, "man pages", test_manual);
    CU_add_test(suite, "completion", test_completion);
    CU_add_test(suite, "quotes", test_quotes);
    CU_add_test(suite, "completion by bash", test_bash_completes);
    CU_add_test(suite, "version", test_version);
    CU_add_test(suite, "paths", test_paths);
}
