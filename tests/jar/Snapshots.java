// SPDX-License-Identifier: Apache-2.0
// Tests with lines in a snapshot; snapshots.py runs them with and without it.
package limits;

import java.util.function.IntSupplier;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import steptrace.junit.AllocationSnapshot;

abstract class Inherited {
    static volatile Object sink;

    @Test
    @AllocationSnapshot
    void inherited() {
        sink = new Object();
    }
}

class Snapshots extends Inherited {
    private static int calls;
    private static volatile Object polled;
    /** A thread whose loop began before any trace: no test of this class is about what it allocates. */
    private static final Thread POLLER = new Thread(Snapshots::poll);

    static {
        POLLER.setDaemon(true);
        POLLER.start();
    }

    private static void poll() {
        try {
            while (true) {
                polled = new byte[100_000];
                Thread.sleep(1);
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    private static void make(int n) {
        for (int i = 0; i < n; i++)
            sink = new Object();
    }

    @Test
    @AllocationSnapshot
    void exact() {
        make(Integer.getInteger("snapshots.objects", 3));
        sink = new int[10];
    }

    @RepeatedTest(2)
    @AllocationSnapshot
    void repeated() {
        make(1);
    }

    @Test
    @AllocationSnapshot
    void overloaded() {
        make(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {2})
    @AllocationSnapshot
    void overloaded(int n) {
        make(n);
    }

    @Test
    @AllocationSnapshot
    void nothing() {
    }

    @Test
    @AllocationSnapshot(warmups = 1)
    void lambda() {
        int n = calls;
        IntSupplier supplier = () -> n;
        sink = supplier;
    }

    @Test
    @AllocationSnapshot
    void varying() {
        make(++calls);
    }

    @Test
    @AllocationSnapshot(objects = 5, bytes = 100)
    void tolerant() {
        make(++calls);
    }
}
