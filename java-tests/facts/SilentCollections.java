// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=Serial,Parallel vm=-Xmx64m
// FACT: alloc facts/SilentCollections$Short 90000
// FACT: alloc facts/SilentCollections$Kept 4500
// FACT: alloc [Lfacts/SilentCollections$Kept; 90001
// FACT: freed facts/SilentCollections$Short 90000
// FACT: freed facts/SilentCollections$Kept 2250
package facts;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Threads make objects while class histograms are asked for: with Serial and Parallel the JVM announced these
 * collections from JDK 25 on only.
 */
public class SilentCollections {
    static class Short { long a; }
    static class Kept {
        final int number;
        Kept(int number) { this.number = number; }
    }

    static final int THREADS = 3, OBJECTS = 30_000, STEP = 20;
    static final Kept[] KEPT = new Kept[THREADS * OBJECTS / STEP];
    static volatile Object sink;

    static void work(int thread) {
        for (int i = 0; i < OBJECTS; i++) {
            sink = new Short();
            sink = new Kept[i % 30];
            if (i % STEP == 0) {
                int at = (thread * OBJECTS + i) / STEP;
                KEPT[at] = new Kept(at);
            }
        }
    }

    /** The half that stays has kept its contents; the other half dies. */
    static void judge() {
        for (int i = 0; i < KEPT.length; i++) {
            if (KEPT[i].number != i)
                throw new AssertionError(i + " is " + KEPT[i].number);
            if (i % 2 == 1)
                KEPT[i] = null;
        }
    }

    public static void main(String[] args) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName command = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Object[] options = {new String[0]};
        String[] signature = {String[].class.getName()};
        server.invoke(command, "gcClassHistogram", options, signature);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> work(number));
            threads[i].start();
        }
        for (Thread thread : threads)
            while (thread.isAlive())
                server.invoke(command, "gcClassHistogram", options, signature);
        judge();
        sink = null;
        Support.collect();
        System.out.println("whole");
    }
}
