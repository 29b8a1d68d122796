// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Z,Serial exit=7
// FACT: alloc facts/ExitInMidWork$Counted 5000
// FACT: alloc facts/ExitInMidWork$Hook 10
package facts;

import java.util.concurrent.CountDownLatch;

/** System.exit in one thread while others allocate; a shutdown hook allocates too. */
public class ExitInMidWork {
    static class Counted {}
    static class Busy {}
    static class Hook {}

    static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(3);
        for (int i = 0; i < 3; i++)
            new Thread(() -> {
                started.countDown();
                while (true)
                    sink = new Busy();
            }).start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            for (int i = 0; i < 10; i++)
                sink = new Hook();
        }));
        started.await();
        for (int i = 0; i < 5000; i++)
            sink = new Counted();
        System.out.println("leaving");
        System.exit(7);
    }
}
