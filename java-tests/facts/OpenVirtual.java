// SPDX-License-Identifier: Apache-2.0
// TEST: jdk=21 collectors=G1 events=all options=include=facts/OpenVirtual* vm=-Djdk.virtualThreadScheduler.parallelism=2
// FACT: calls facts/OpenVirtual$Held <init> 310
// FACT: exits facts/OpenVirtual$Held <init> 300
// FACT: alloc facts/OpenVirtual$Held 310
package facts;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads leave their carriers within the arguments of super(); some go on on another, some
 * are there when the JVM ends, while others have made many more events on the same carriers. */
public class OpenVirtual {
    static final CountDownLatch READY = new CountDownLatch(10);

    static int paused(int how) {
        if (how == 0) {
            READY.countDown();
            while (true)
                LockSupport.park();
        }
        LockSupport.parkNanos(1_000_000);
        return how;
    }

    static class Holder {
        final int value;

        Holder(int value) { this.value = value; }
    }

    static class Held extends Holder {
        Held(int how) { super(paused(how)); }
    }

    static void event() {}

    static Thread start(Runnable run) throws ReflectiveOperationException {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[310];
        for (int i = 0; i < threads.length; i++) {
            int how = i % 31;
            threads[i] = start(() -> new Held(how));
        }
        READY.await();
        for (int i = 0; i < threads.length; i++)
            if (i % 31 != 0)
                threads[i].join();
        Thread busy = start(() -> {
            for (int i = 0; i < 100_000; i++)
                event();
        });
        busy.join();
        System.out.println("leaving");
    }
}
