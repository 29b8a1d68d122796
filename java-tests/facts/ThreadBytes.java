// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all
// FACT: alloc facts/ThreadBytes$Worked >=9000
package facts;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The JVM's own count of the bytes that a thread allocates: the fact "bytes-between". */
public class ThreadBytes {
    static class Begin {}
    static class End {}
    static class Worked { Object a; long b; }

    static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    static volatile Object sink;

    static void work() {
        Map<Integer, Object> map = new HashMap<>();
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            map.put(i, new Worked());
            list.add(new int[i % 100]);
            sink = "value " + i;
            sink = list.size() % 1000 == 0 ? list.toArray() : new byte[i % 3][i % 5];
        }
        sink = map;
        sink = new byte[3 << 20];
    }

    /** Bytes of one round, between a Begin and an End. */
    static long round() {
        sink = new Begin();
        long before = bean.getCurrentThreadAllocatedBytes();
        work();
        long after = bean.getCurrentThreadAllocatedBytes();
        sink = new End();
        return after - before;
    }

    /**
     * Whoever asks for a method's compilation by C2 first makes all strings that the constants of
     * its class name: objects of the VM, in this thread, which engine=bytecode does not see.  So the
     * rounds go on until three are alike; what counts is the last.
     */
    static void measure() {
        long bytes = 0;
        for (int alike = 0, rounds = 0; alike < 3 && rounds < 200; rounds++) {
            long now = round();
            alike = now == bytes ? alike + 1 : 0;
            bytes = now;
        }
        Support.fact("bytes-between facts/ThreadBytes$Begin facts/ThreadBytes$End " + bytes);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread other = new Thread(ThreadBytes::noise);
        other.setDaemon(true);
        other.start();
        Thread thread = new Thread(ThreadBytes::measure);
        thread.start();
        thread.join();
        System.out.println("done");
    }

    static void noise() {
        for (int i = 0; i < 10_000; i++) {
            sink = new long[i % 7];
            if (i % 1000 == 0)
                Support.pause(1);
        }
    }
}
