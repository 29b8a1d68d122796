// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;

/** What the programs share: a sink that keeps objects from being optimized away, and the rest. */
final class Support {
    /** Whatever is stored here has escaped. */
    static volatile Object sink;

    private Support() {}

    /**
     * For engine=sampled: ends the TLAB that the main thread had when the trace began.  The JVM finds
     * the next sample at its end, and the agent leaves the thread's first sample out.
     */
    static void passFirstSample() {
        for (int i = 0; i < 40_000; i++)
            sink = new char[100];
        sink = new char[1 << 20];
    }

    /**
     * Returns after two collections that found dead what was dead before.  Does not call get(): from
     * JDK 26 on, with MethodExit events, the JVM keeps the object that a thread's last method
     * returned until another method returns one.
     */
    static void collect() {
        for (int round = 0; round < 2; round++) {
            WeakReference<Object> reference = canary();
            while (!reference.refersTo(null)) {
                System.gc();
                pause(10);
            }
        }
    }

    private static WeakReference<Object> canary() {
        return new WeakReference<>(new Object());
    }

    static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells the harness a fact that is known only now; the same words as after "FACT:". */
    static void fact(String words) {
        String path = System.getProperty("facts.out");
        if (path == null)
            return;
        try (FileWriter out = new FileWriter(path, true)) {
            out.write(words + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Says a line and waits until the harness has done its part and sends one. */
    static void meet(String line) {
        System.out.println(line);
        System.out.flush();
        try {
            while (System.in.read() != '\n')
                continue;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
