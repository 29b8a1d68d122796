// SPDX-License-Identifier: Apache-2.0
// What counts of other threads, with any JDK: those that the work starts, by whatever way, and no others.
package limits;

import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import steptrace.Allocations;

class Threads {
    private static final int ROUNDS = 3;
    private static final int FIRST_WITH_VIRTUAL = 21;
    private static final Pattern MINE = Pattern.compile("(\\d+) objects?, \\d+ bytes: limits.Threads\n");

    static class Subclass extends Thread {
        @Override
        public void run() {
            hundred();
        }
    }

    static volatile Object sink;
    private static boolean isWrong;

    private static void hundred() {
        for (int i = 0; i < 100; i++)
            sink = new Threads();
    }

    private static void expect(String what, long wanted, Allocations.Work work) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Matcher rows = MINE.matcher(Allocations.measure(work).toString());
            long found = 0;
            while (rows.find())
                found += Long.parseLong(rows.group(1));
            if (found != wanted)
                System.out.println(what + ": " + found + " objects, not " + wanted);
            isWrong |= found != wanted;
        }
    }

    private static void runIn(Thread thread) throws InterruptedException {
        thread.start();
        thread.join();
    }

    private static void runAll(ExecutorService pool, int tasks) throws InterruptedException {
        for (int i = 0; i < tasks; i++)
            pool.submit(Threads::hundred);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    private static void expectVirtual() throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Method pool = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        Runnable hundred = Threads::hundred;
        expect("a virtual thread", 100, () -> ((Thread) start.invoke(null, hundred)).join());
        expect("many virtual threads", 2000, () -> runAll((ExecutorService) pool.invoke(null), 20));
    }

    private static void startNoise() {
        Thread noise = new Thread(() -> {
            try {
                while (true)
                    runIn(new Thread(Threads::hundred));
            } catch (InterruptedException fault) {
                Thread.currentThread().interrupt();
            }
        });
        noise.setDaemon(true);
        noise.start();
    }

    public static void main(String[] words) throws Exception {
        expect("a thread", 100, () -> runIn(new Thread(Threads::hundred)));
        expect("a class of threads", 100, () -> runIn(new Subclass()));
        expect("a thread's thread", 200, () -> runIn(new Thread(() -> {
            hundred();
            try {
                runIn(new Subclass());
            } catch (InterruptedException fault) {
                Thread.currentThread().interrupt();
            }
        })));
        expect("a pool", 1000, () -> runAll(Executors.newFixedThreadPool(4), 10));
        expect("a second start", 200, () -> {
            Thread thread = new Thread(Threads::hundred);
            runIn(thread);
            try {
                thread.start();
            } catch (IllegalThreadStateException fault) {
                hundred();
            }
        });
        if (Runtime.version().feature() >= FIRST_WITH_VIRTUAL)
            expectVirtual();
        startNoise();
        expect("a thread beside others", 100, () -> runIn(new Subclass()));
        expect("none beside others", 0, () -> Thread.sleep(20));
        System.exit(isWrong ? 1 : 0);
    }
}
