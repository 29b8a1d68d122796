/* SPDX-License-Identifier: Apache-2.0 */
/* A count, and the names that fit into a text. */
#include "agent/bytecode/class_hook.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/hotspot/vm_structs.h"
#include "capture/log.h"

#define HUGE_METHOD_LIMIT 8000u /* HugeMethodLimit, fixed in product builds */

static struct {
    pthread_mutex_t lock;
    uint64_t count;
    bool told;
    char names[HUGE_METHODS_TEXT - 64];
} huge = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t huge_methods_begin(void)
{
    const unsigned char *flag = vm_flag("DontCompileHugeMethods");
    pthread_mutex_lock(&huge.lock);
    huge.count = 0;
    huge.told = false;
    huge.names[0] = '\0';
    pthread_mutex_unlock(&huge.lock);
    return flag != NULL && *flag == 0 ? 0 : HUGE_METHOD_LIMIT;
}

/* What runs once costs nothing if it is not compiled: initializers, and the JDK's tables of texts.
 * The trace names them all the same. */
static bool runs_once(const char *class_name, const char *method_name)
{
    return strcmp(method_name, "<clinit>") == 0 ||
           (strcmp(method_name, "getContents") == 0 && strstr(class_name, "/resources/") != NULL);
}

void huge_method_add(const char *class_name, const char *method_name, const char *descriptor)
{
    char name[sizeof huge.names];
    int length = snprintf(name, sizeof name, "%s.%s%s", class_name, method_name, descriptor);
    if (length < 0)
        return;
    pthread_mutex_lock(&huge.lock);
    /* a class may be rewritten more than once */
    bool known = (size_t) length < sizeof name && strstr(huge.names, name) != NULL;
    size_t used = strlen(huge.names), separator = used != 0 ? 2 : 0;
    bool first = !known && !huge.told && !runs_once(class_name, method_name);
    huge.count += !known;
    huge.told |= first;
    if (!known && used + separator + (size_t) length < sizeof huge.names) {
        memcpy(huge.names + used, ", ", separator);
        memcpy(huge.names + used + separator, name, (size_t) length + 1);
    }
    pthread_mutex_unlock(&huge.lock);
    if (first)
        log_message(
            "%s.%s%s will run slowly: with its probes it has over %u bytes, and the JVM compiles "
            "such methods only with -XX:-DontCompileHugeMethods (`steptrace info` lists all)",
            class_name, method_name, descriptor, HUGE_METHOD_LIMIT);
}

bool huge_methods_describe(char text[HUGE_METHODS_TEXT])
{
    pthread_mutex_lock(&huge.lock);
    bool any = huge.count != 0;
    snprintf(text, HUGE_METHODS_TEXT, "%" PRIu64 ": %s", huge.count, huge.names);
    pthread_mutex_unlock(&huge.lock);
    return any;
}
