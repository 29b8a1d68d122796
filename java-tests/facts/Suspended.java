// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.ArrayList;
import java.util.List;

/** Threads are suspended, as a debugger does it; most of their time they are in probes. */
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

    public static void main(String[] args) throws InterruptedException {
        System.load(System.getProperty("facts.library"));
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
