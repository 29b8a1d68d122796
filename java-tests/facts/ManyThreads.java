// SPDX-License-Identifier: Apache-2.0
// TEST: label=slow vm=-Xmx512m timeout=600
// FACT: alloc facts/ManyThreads$Task 10000
// FACT: threads-allocating facts/ManyThreads$Task 10000
// FACT: threads-ended facts/ManyThreads$Task
package facts;

import java.util.concurrent.CountDownLatch;

/** Ten thousand platform threads at once. */
public class ManyThreads {
    static class Task {}

    static final int COUNT = 10_000;
    static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[COUNT];
        CountDownLatch all = new CountDownLatch(COUNT);
        for (int i = 0; i < COUNT; i++) {
            threads[i] = new Thread(null, () -> {
                sink = new Task();
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "task", 64 << 10);
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println("threads " + COUNT);
    }
}
