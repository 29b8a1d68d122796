// SPDX-License-Identifier: Apache-2.0
// TEST: jdk=21 collectors=G1 events=class+thread+method options=include=facts/VirtualStamps*,resolution=1000events vm=-Djdk.virtualThreadScheduler.parallelism=3
// FACT: calls facts/VirtualStamps deep 18000
// FACT: exits facts/VirtualStamps deep 18000
package facts;

import java.lang.reflect.Method;

/** A virtual thread makes many calls and changes its carrier within microseconds, and comes back to
 * carriers on which nothing else has run. */
public class VirtualStamps {
    static int deep(int n) {
        return n < 2 ? n : deep(n - 1) + deep(n - 2);
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Runnable run = () -> {
            for (int i = 0; i < 2000; i++) {
                deep(4);
                Thread.yield();
            }
        };
        ((Thread) start.invoke(null, run)).join();
    }
}
