// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Serial
// FACT: alloc facts/Threads$Task 300
// FACT: threads-allocating facts/Threads$Task 300
// FACT: threads-ended facts/Threads$Task
// FACT: starts-between facts/Threads$Section 300..304
// FACT: ends-between facts/Threads$Section 300..304
// FACT: threads-allocating facts/Threads$Daemon 5
// FACT: threads-allocating facts/Threads$Serial 200
package facts;

import java.util.concurrent.CountDownLatch;

/** Three hundred threads at once, two hundred in turn, and daemons that outlive main. */
public class Threads {
    static class Task {}
    static class Daemon {}
    static class Serial {}
    static class Section {}

    static volatile Object sink;

    static void together() throws InterruptedException {
        Thread[] threads = new Thread[300];
        CountDownLatch all = new CountDownLatch(threads.length);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(null, () -> {
                sink = new Task();
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "task-" + i, 128 << 10);
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
    }

    static void inTurn() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            Thread thread = new Thread(() -> sink = new Serial());
            thread.start();
            thread.join();
        }
    }

    static void daemons() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(5);
        for (int i = 0; i < 5; i++) {
            Thread thread = new Thread(() -> {
                sink = new Daemon();
                started.countDown();
                while (true)
                    sink = new int[10];
            });
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
    }

    public static void main(String[] args) throws InterruptedException {
        sink = new Section();
        Support.pause(5);
        together();
        Support.pause(50);
        sink = new Section();
        inTurn();
        daemons();
        Support.pause(50);
        System.out.println("main ends, daemons do not");
    }
}
