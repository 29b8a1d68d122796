// SPDX-License-Identifier: Apache-2.0
package facts;

import com.sun.management.ThreadMXBean;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;

/**
 * Windows of known allocations, for engine=sampled: what each made is in the file facts.out, with
 * the JVM's own count of its bytes.  An array before each window, and after the last, is so large
 * that it is surely sampled.  All windows are of one thread: HotSpot starts its random numbers anew
 * with each thread, and windows of several were alike.  tests/jvm/sampled_cases.py judges it.
 */
public class Sampled {
    static class Dropped { long a; }
    static class Held { long a, b, c, d, e, f; }

    static final int WINDOWS = 100, DROPPED = 40_000, HELD = 2_000, BYTES = 500, LARGE = 20;
    static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    static final Held[][] held = new Held[WINDOWS][HELD];
    static final long[] allocated = new long[WINDOWS];
    static volatile Object sink;

    static void window(int number) {
        long before = bean.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < DROPPED; i++) {
            sink = new Dropped();
            if (i % (DROPPED / HELD) == 0)
                held[number][i / (DROPPED / HELD)] = new Held();
            if (i % (DROPPED / BYTES) == 0)
                sink = new byte[1_000];
            if (i % (DROPPED / LARGE) == 0)
                sink = new long[4_000];
        }
        allocated[number] = bean.getCurrentThreadAllocatedBytes() - before;
    }

    public static void main(String[] args) throws Exception {
        Support.passFirstSample();
        for (int i = 0; i < WINDOWS; i++) {
            sink = new float[1 << 20];
            window(i);
        }
        sink = new float[1 << 20];
        sink = null;
        Support.collect();
        try (PrintStream out = new PrintStream(System.getProperty("facts.out"))) {
            out.println("objects " + (DROPPED + HELD + BYTES + LARGE));
            out.println("class facts/Sampled$Dropped " + WINDOWS * DROPPED);
            out.println("class facts/Sampled$Held " + WINDOWS * HELD);
            for (long bytes : allocated)
                out.println("bytes " + bytes);
        }
        System.out.println("held " + held.length);
    }
}
