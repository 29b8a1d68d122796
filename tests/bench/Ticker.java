/* SPDX-License-Identifier: Apache-2.0 */
import java.io.PrintWriter;
import java.util.concurrent.locks.LockSupport;

/** Allocates RATE arrays a second for SECONDS, and writes to FILE how many there were when, on the monotonic clock. */
public class Ticker {
    static volatile Object kept;

    public static void main(String[] args) throws Exception {
        long rate = Long.parseLong(args[0]), seconds = Long.parseLong(args[1]);
        long[] times = new long[(int) seconds * 1100], counts = new long[times.length];
        Object[] ring = new Object[1024];
        long made = 0, start = System.nanoTime();
        int looks = 0;
        for (long now = start; now - start < seconds * 1000000000L; now = System.nanoTime()) {
            long due = (now - start) / 1000 * rate / 1000000;
            for (; made < due; made++)
                ring[(int) (made & 1023)] = new byte[16];
            kept = ring;
            if (looks < times.length && (looks == 0 || now - times[looks - 1] > 1000000)) {
                times[looks] = System.nanoTime();
                counts[looks++] = made;
            }
            LockSupport.parkNanos(200000);
        }
        try (PrintWriter out = new PrintWriter(args[2])) {
            for (int i = 0; i < looks; i++)
                out.println(times[i] + " " + counts[i]);
        }
    }
}
