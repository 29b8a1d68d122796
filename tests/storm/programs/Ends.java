// SPDX-License-Identifier: Apache-2.0
// A JVM that ends in the midst of its threads' work.  HOW THREADS PAUSE: exit, halt, throw, or wait for
// a signal; all threads make objects to the last moment, with pauses of so many milliseconds, a hook at
// the end makes some more.
package storm;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public class Ends {
    static volatile Object sink;
    static volatile long seen;

    static Object deep(int depth) {
        return depth == 0 ? new byte[40] : new Object[] {deep(depth - 1)};
    }

    static void churn(CountDownLatch ready, long pause) {
        ready.countDown();
        for (int i = 0;; i++) {
            sink = deep(i % 20);
            if (i % 50 == 0) {
                seen += String.valueOf(i).length();
                LockSupport.parkNanos(pause * 1_000_000);
            }
        }
    }

    static void hook() {
        for (int i = 0; i < 2000; i++)
            sink = new StringBuilder().append(i);
        System.out.println("hook");
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        CountDownLatch ready = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> churn(ready, Long.parseLong(args[2])));
            thread.setDaemon(true);
            thread.start();
        }
        ready.await();
        if (!args[0].equals("halt"))
            Runtime.getRuntime().addShutdownHook(new Thread(Ends::hook));
        System.out.println("ready");
        System.out.flush();
        switch (args[0]) {
            case "exit": System.exit(7);
            case "halt": Runtime.getRuntime().halt(9);
            case "throw": throw new IllegalStateException("as asked");
            default: Thread.sleep(600_000);
        }
    }
}
