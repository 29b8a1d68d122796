// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.lang.management.ManagementFactory;

/** Objects that C2 removes, and arrays that it cannot; prints the bytes that the thread allocated. */
public class Escapes {
    record Point(int x, int y) {
    }

    static int[] kept;
    static long sum;

    static int distance(int i) {
        Point a = new Point(i, 1), b = new Point(1, i);
        return a.x() * b.y() - a.y();
    }

    static void work(int count) {
        for (int i = 0; i < count; i++) {
            sum += distance(i);
            kept = new int[64];
        }
    }

    static long bytes() {
        com.sun.management.ThreadMXBean bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        return bean.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    public static void main(String[] words) {
        bytes();
        long before = bytes();
        work(Integer.parseInt(words[0]));
        System.out.println(bytes() - before);
    }
}
