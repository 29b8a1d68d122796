/* SPDX-License-Identifier: Apache-2.0 */
/* Which techniques a JVM gets by its name, version and vendor.  The JVM is asked once in a process,
 * so each case has a process of its own. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/internals.h"
#include "agent/base/tracer.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* else that of the entry points */

struct jvm {
    int java;
    const char *name, *version, *vendor;
    const char *refused; /* a part of the description; NULL: none is refused */
    bool proven;         /* the thorough self-tests are demanded */
    uint32_t tried;      /* what may be tried */
};

static const struct jvm *asked;

static jvmtiError JNICALL get_property(jvmtiEnv *jvmti, const char *key, char **value)
{
    (void) jvmti;
    const char *text = strcmp(key, "java.vm.name") == 0      ? asked->name
                       : strcmp(key, "java.vm.version") == 0 ? asked->version
                       : strcmp(key, "java.vm.vendor") == 0  ? asked->vendor
                                                             : NULL;
    if (text == NULL || (*value = strdup(text)) == NULL)
        return JVMTI_ERROR_NOT_AVAILABLE;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
    (void) jvmti;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.GetSystemProperty = get_property,
                                                   .Deallocate = deallocate};

/* The rights and wrongs of one JVM: a bit for each technique that may be tried, of all asked for.
 */
static bool is_as_wanted(const struct jvm *jvm)
{
    static jvmtiEnv environment = &functions;
    char text[INTERNALS_TEXT];
    uint32_t tried = 0;
    asked = jvm;
    tracer.jvmti = &environment;
    tracer.java_major = jvm->java;
    for (int session = 0; session < 2; session++) { /* the second asks nothing anew */
        internals_begin(INTERNALS_ALL, false);
        tried = 0;
        for (int i = 0; i < INTERNAL_COUNT; i++)
            if (internal_is_allowed((enum internal) i))
                tried |= UINT32_C(1) << i;
        internals_describe(text);
        if (tried != jvm->tried || internals_are_to_be_proven() != jvm->proven ||
            (jvm->refused != NULL ? strstr(text, jvm->refused) == NULL : strcmp(text, "none") != 0))
            return false;
    }
    return true;
}

#define HOTSPOT "OpenJDK 64-Bit Server VM"
#define NOT_FRAMES (INTERNALS_ALL & ~(UINT32_C(1) << INTERNAL_FRAMES))

static const struct jvm jvms[] = {
    {17, HOTSPOT, "17.0.15+6-Debian-1deb12u1", "Debian", NULL, false, INTERNALS_ALL},
    {27, HOTSPOT, "27.0.1+9", "Eclipse Adoptium", NULL, false, INTERNALS_ALL},
    {24, HOTSPOT, "24+36", "Debian", NULL, true, INTERNALS_ALL},
    {28, HOTSPOT, "28-ea+18", "Debian", NULL, true, INTERNALS_ALL},
    {17, HOTSPOT, "17-internal+0-fastdebug", "N/A", NULL, true, INTERNALS_ALL},
    {25, HOTSPOT, "25+37-jvmci-b01", "GraalVM Community", NULL, true, INTERNALS_ALL},
    {21, HOTSPOT, "21.0.6+8-b895.109", "JetBrains s.r.o.",
     "headers (not where class redefinition may move objects)", true,
     INTERNALS_ALL & ~INTERNALS_OF_ADDRESSES},
    {17, "OpenJDK 64-Bit Zero VM", "17.0.15+6", "Debian", "frames (not on this JVM)", true,
     NOT_FRAMES},
    {21, "Eclipse OpenJ9 VM", "openj9-0.49.0", "IBM Corporation", "frames (not on this JVM)", true,
     NOT_FRAMES},
};

static void test_families(void)
{
    for (size_t i = 0; i < sizeof jvms / sizeof jvms[0]; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(is_as_wanted(&jvms[i]) ? 0 : 1);
        CU_ASSERT_TRUE_FATAL(child > 0 && waitpid(child, &status, 0) == child);
        CU_ASSERT_EQUAL(status, 0);
        if (status != 0)
            printf("%s %s\n", jvms[i].vendor, jvms[i].version);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("internals", NULL, NULL);
    CU_add_test(suite, "families of JVMs", test_families);
}
