// SPDX-License-Identifier: Apache-2.0
// The class that Copies makes copies of: calls, objects, arrays, exceptions, a loop, a lock.
package storm;

public class Copied0000 implements Copied {
    private long state = 3;
    private Object held;

    private synchronized long locked(int n) {
        held = new int[n % 7];
        return state += n;
    }

    private static long thrower(int n) {
        if (n % 4 == 0)
            throw new IllegalArgumentException("by four");
        return n;
    }

    @Override
    public long work(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            try {
                sum += thrower(i) + locked(i);
            } catch (IllegalArgumentException thrown) {
                sum ^= thrown.getMessage().length();
            }
            held = new Object[] {held == null ? null : "text", i % 3 == 0 ? new Copied0000() : null};
        }
        return sum;
    }
}
