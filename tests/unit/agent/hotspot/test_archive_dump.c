/* SPDX-License-Identifier: Apache-2.0 */
/* JVMs that make an archive of classes, by their flags and their command line: which are traced,
 * and with which engine. */
#include <CUnit/Basic.h>
#include <string.h>

#include "agent/base/agent_options.h"
#include "agent/hotspot/archive_dump.h"
#include "agent/hotspot/vm_structs.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

/* The JVM, in place of the tables that HotSpot exports. */
static struct {
    const char *flag;
    bool is_true;
    const char *text;
    const char *argument;
} jvm;

const void *vm_flag(const char *name)
{
    if (jvm.flag == NULL || strcmp(name, jvm.flag) != 0)
        return NULL;
    return jvm.is_true ? (const void *) &jvm.is_true : (const void *) &jvm.text;
}

bool vm_argument_given(const char *argument)
{
    return jvm.argument != NULL && strcmp(argument, jvm.argument) == 0;
}

static struct options options;
static struct scratch_heard heard;

static bool allows(const char *text)
{
    CU_ASSERT_TRUE_FATAL(options_parse(&options, text));
    scratch_listen();
    bool allowed = archive_dump_allows(&options);
    heard = scratch_hear();
    return allowed;
}

static void test_none(void)
{
    memset(&jvm, 0, sizeof jvm);
    CU_ASSERT_TRUE(allows(NULL));
    CU_ASSERT_EQUAL(options.engine, ENGINE_BYTECODE);
    CU_ASSERT_STRING_EQUAL(heard.err, "");
    jvm.flag = "AOTCacheOutput"; /* there, but not given */
    CU_ASSERT_TRUE(allows(NULL));
    CU_ASSERT_EQUAL(options.engine, ENGINE_BYTECODE);
    jvm.flag = "AOTMode";
    jvm.text = "on"; /* it uses an archive */
    CU_ASSERT_TRUE(allows(NULL));
    CU_ASSERT_EQUAL(options.engine, ENGINE_BYTECODE);
}

/* No program runs: nothing is traced, whatever the engine. */
static void test_only(void)
{
    memset(&jvm, 0, sizeof jvm);
    jvm.argument = "-Xshare:dump";
    CU_ASSERT_FALSE(allows(NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "(-Xshare:dump): it is not traced"));
    CU_ASSERT_FALSE(allows("engine=jvmti"));
    jvm.argument = NULL;
    jvm.flag = "AOTMode";
    jvm.text = "create";
    CU_ASSERT_FALSE(allows(NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "(AOTMode)"));
}

/* A program runs, and an archive is made beside it: no class may be changed. */
static void test_beside(void)
{
    static const char *const flags[] = {"DynamicDumpSharedSpaces", "AutoCreateSharedArchive",
                                        "RecordDynamicDumpInfo"};
    memset(&jvm, 0, sizeof jvm);
    jvm.is_true = true;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        jvm.flag = flags[i];
        CU_ASSERT_TRUE(allows(NULL));
        CU_ASSERT_EQUAL(options.engine, ENGINE_JVMTI);
        CU_ASSERT(strstr(heard.err, flags[i]) != NULL &&
                  strstr(heard.err, "it is traced with engine=jvmti") != NULL);
        CU_ASSERT_TRUE(allows("engine=jvmti"));
        CU_ASSERT_STRING_EQUAL(heard.err, "");
    }
    jvm.is_true = false;
    jvm.flag = "ArchiveClassesAtExit";
    jvm.text = "app.jsa";
    CU_ASSERT_TRUE(allows(NULL));
    CU_ASSERT_EQUAL(options.engine, ENGINE_JVMTI);
    CU_ASSERT_FALSE(allows("start=a/B.c")); /* which engine=jvmti does not have */
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "options start, stop need engine=bytecode"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("archives of classes", NULL, NULL);
    CU_add_test(suite, "none", test_none);
    CU_add_test(suite, "no program", test_only);
    CU_add_test(suite, "beside a program", test_beside);
}
