// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Loads N classes (first argument), all of which it uses, and measures its own longest stall: how
 * much later than asked a thread wakes that sleeps for a millisecond. For each line on standard
 * input it prints the longest stall since the last line, in microseconds; it ends with the input.
 */
public final class Stalls {
    /** The work of one class. */
    public interface Work {
        Object run(int turn);
    }

    /** What each of the classes is a copy of, under another name. */
    public static final class T00000 implements Work {
        private final List<Object> kept = new ArrayList<>();

        @Override
        public Object run(int turn) {
            Object made = turn % 3 == 0 ? name(turn) : numbers(turn);
            if (kept.size() > 20)
                kept.clear();
            kept.add(made);
            return made;
        }

        private String name(int turn) {
            try {
                return new StringBuilder().append("turn ").append(turn).toString();
            } catch (IllegalStateException never) {
                return never.getMessage();
            }
        }

        private int[] numbers(int turn) {
            int[] numbers = new int[8 + turn % 8];
            for (int i = 0; i < numbers.length; i++)
                numbers[i] = i * turn;
            return numbers;
        }

        @Override
        public String toString() {
            return getClass() + new ArrayList<>(kept).toString();
        }
    }

    /** Defines copies of T00000. */
    private static final class Copies extends ClassLoader {
        private final byte[] bytes;

        Copies() throws IOException {
            try (InputStream file = Stalls.class.getResourceAsStream("Stalls$T00000.class")) {
                bytes = file.readAllBytes();
            }
        }

        Class<?> copy(int number) {
            String name = String.format("T%05d", number);
            byte[] copy = bytes.clone();
            byte[] from = "T00000".getBytes(StandardCharsets.US_ASCII);
            byte[] to = name.getBytes(StandardCharsets.US_ASCII);
            for (int at = 0; at + from.length <= copy.length; at++)
                if (java.util.Arrays.equals(copy, at, at + from.length, from, 0, from.length))
                    System.arraycopy(to, 0, copy, at, to.length);
            return defineClass("Stalls$" + name, copy, 0, copy.length);
        }
    }

    private static final AtomicLong longest = new AtomicLong();
    private static volatile Object sink;

    private static void watch() {
        for (long before = System.nanoTime();;) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException ended) {
                return;
            }
            long now = System.nanoTime(), late = now - before - 1_000_000;
            longest.accumulateAndGet(late, Math::max);
            before = now;
        }
    }

    private static void work(Work[] all) {
        for (int turn = 0;; turn++) {
            for (Work one : all)
                sink = one.run(turn);
            try {
                Thread.sleep(5);
            } catch (InterruptedException ended) {
                return;
            }
        }
    }

    private static void start(Runnable code) {
        Thread thread = new Thread(code);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        Copies copies = new Copies();
        Work[] all = new Work[count];
        for (int i = 0; i < count; i++)
            all[i] = (Work) copies.copy(i + 1).getDeclaredConstructor().newInstance();
        start(() -> work(all));
        start(Stalls::watch);
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null)
            System.out.println(longest.getAndSet(0) / 1000);
    }
}
