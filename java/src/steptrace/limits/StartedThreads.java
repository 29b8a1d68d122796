// SPDX-License-Identifier: Apache-2.0
package steptrace.limits;

import java.lang.management.ManagementFactory;

/** How many platform threads the JVM has started, by its own count. */
final class StartedThreads {
    private static final boolean IS_KNOWN = ModuleLayer.boot().findModule("java.management").isPresent();

    private StartedThreads() {
    }

    /** 0 in a JVM without the module java.management. */
    static long count() {
        return IS_KNOWN ? ManagementFactory.getThreadMXBean().getTotalStartedThreadCount() : 0;
    }
}
