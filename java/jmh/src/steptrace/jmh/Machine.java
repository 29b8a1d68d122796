// SPDX-License-Identifier: Apache-2.0
package steptrace.jmh;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/** The JVM's counters of the bytes that each thread has allocated, which lack what the JIT compiler removed. */
final class Machine {
    private final Map<Long, Long> before = new HashMap<>();
    private long started;

    /** A JVM without these counters has an empty table. */
    private static Map<Long, Long> counters() {
        Map<Long, Long> counters = new HashMap<>();
        if (!(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean) || !bean.isThreadAllocatedMemorySupported()
                || !bean.isThreadAllocatedMemoryEnabled())
            return counters;
        long[] threads = bean.getAllThreadIds(), bytes = bean.getThreadAllocatedBytes(threads);
        for (int i = 0; i < threads.length; i++)
            if (threads[i] != Thread.currentThread().getId() && bytes[i] >= 0)
                counters.put(threads[i], bytes[i]);
        return counters;
    }

    void begin() {
        before.clear();
        before.putAll(counters());
        started = ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
    }

    /** Bytes of all other threads since then; -1 if nobody knows, as threads that have ended took their counters with them. */
    long end() {
        Map<Long, Long> after = counters();
        long more = ManagementFactory.getThreadMXBean().getTotalStartedThreadCount() - started;
        long fresh = after.keySet().stream().filter(thread -> !before.containsKey(thread)).count();
        if (after.isEmpty() || more != fresh || !after.keySet().containsAll(before.keySet()))
            return -1;
        return after.entrySet().stream().mapToLong(at -> at.getValue() - before.getOrDefault(at.getKey(), 0L)).sum();
    }
}
