/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that probes pass, by what the methods are called: a method has the same in all
 * sessions, and so its class the same constants, which the JVM would keep of each. */
#ifndef METHOD_NUMBERS_H
#define METHOD_NUMBERS_H

#include <stdint.h>

/* `loader` tells class loaders apart.  Not for classes of which a loader may have several with one
 * name.  0: there are too many methods. */
uint32_t method_number_of(uint64_t loader, const char *class_name, const char *method_name,
                          const char *descriptor);

#endif
