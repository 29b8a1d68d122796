// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.ArrayList;
import java.util.List;

/**
 * Threads are suspended, as a debugger does it; most of their time they are in probes. With the name of a thread as
 * argument, that one is suspended, a collection made, and the program ends.
 */
public class Suspended {
    static volatile Object sink;

    static class Made {}

    static void deep(int n) {
        if (n > 0)
            deep(n - 1);
        else
            for (;;)
                sink = new Made();
    }

    static native boolean suspend(Thread thread);

    static native boolean resume(Thread thread);

    static native boolean suspendNamed(String name);

    /** What the collection wakes has time to begin. */
    static void suspendAndEnd(String name) throws InterruptedException {
        for (int i = 0; i < 100_000; i++)
            sink = new Made();
        System.out.println("suspended " + suspendNamed(name));
        System.gc();
        Thread.sleep(200);
    }

    public static void main(String[] args) throws InterruptedException {
        System.load(System.getProperty("facts.library"));
        if (args.length == 1) {
            suspendAndEnd(args[0]);
            return;
        }
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Thread thread = new Thread(() -> deep(60));
            thread.setDaemon(true);
            thread.start();
            all.add(thread);
        }
        Support.meet("busy");
        boolean done = true;
        for (Thread thread : all)
            done &= suspend(thread);
        Support.meet("suspended " + done);
        for (Thread thread : all)
            done &= resume(thread);
        Support.meet("resumed " + done);
    }
}
