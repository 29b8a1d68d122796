// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * Holds 1,000 chunks of 1,024 bytes, then lets them go; leaks records; a thread named to break a page helps, and five whose
 * names differ at their ends.
 */
public class ReportSites {
    private static final List<byte[]> kept = new ArrayList<>();
    private static final List<long[]> leaked = new ArrayList<>();

    static byte[] chunk() {
        return new byte[1024];
    }

    static void hold() {
        for (int i = 0; i < 1000; i++) {
            kept.add(chunk());
        }
    }

    static long[] record() {
        return new long[16];
    }

    /** Deeper than the 16 frames that are recorded. */
    static byte[] deep(int depth) {
        return depth == 0 ? new byte[4096] : deep(depth - 1);
    }

    /** A leak: 100 records more at each of nine collections. */
    static void leak() {
        for (int round = 0; round < 9; round++) {
            for (int i = 0; i < 100; i++) {
                leaked.add(record());
            }
            System.gc();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread helper = new Thread(() -> kept.add(chunk()), "</script><script>document.title='broken'</script>");
        helper.start();
        helper.join();
        for (int i = 1; i <= 5; i++) {
            Thread worker = new Thread(() -> leaked.add(new long[1]), "http-nio-127.0.0.1-18080-executor-of-requests-" + i);
            worker.start();
            worker.join();
        }
        for (int i = 0; i < 50; i++) {
            kept.add(deep(30));
        }
        leak();
        hold();
        Thread.sleep(20);
        kept.clear();
        System.gc();
        Thread.sleep(50);
    }
}
