// SPDX-License-Identifier: Apache-2.0
package facts;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;

/**
 * Work of all kinds that has probes, in a thread that another one stops with an exception. The thread
 * calls itself "stop N" until it has caught exception N. Prints how many it caught.
 */
public class Stopped {
    static int caught;
    static Object kept;
    final Object held;

    Stopped(Object held) { this.held = held; }

    static class Copied implements Cloneable {
        Object field = "text";

        Copied copy() throws CloneNotSupportedException { return (Copied) clone(); }
    }

    static int deep(int depth) { return depth == 0 ? 0 : 1 + deep(depth - 1); }

    static void work() throws Exception {
        List<Object> objects = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            objects.add(new Stopped(new Object[] {new int[i], "x" + i}));
            objects.add(new long[2][3][2]);
            objects.add(new Copied().copy());
            objects.add(new int[] {i}.clone());
            objects.add(Array.newInstance(String.class, 3));
            objects.add(new Object[] {objects}.clone());
            objects.add(Stopped.class.getDeclaredConstructor(Object.class).newInstance("a"));
            objects.add(new String(new char[] {'a', 'b'}).intern());
            objects.add(Stopped.class.getDeclaredMethods());
            Runnable lambda = () -> objects.add(Thread.currentThread());
            lambda.run();
            kept = objects.toArray();
            deep(20);
            try {
                throw new IllegalStateException("a" + i);
            } catch (IllegalStateException e) {
                objects.add(e.getStackTrace());
            }
        }
    }

    /** An exception that stopped it may be the cause of the one that arrives. */
    static boolean isStop(Throwable thrown) {
        for (; thrown != null; thrown = thrown.getCause())
            if (thrown instanceof IllegalThreadStateException) return true;
        return false;
    }

    /** Code that is linked at its first use is linked before the stops: what the JDK makes of them there is its own. */
    static void repeat(String name, int rounds) {
        for (int i = 0; i < rounds; i++)
            try {
                Thread.currentThread().setName(name.concat(String.valueOf(caught)));
                work();
            } catch (Throwable thrown) {
                if (!isStop(thrown)) {
                    thrown.printStackTrace(System.out);
                    return;
                }
                caught++;
            }
        Thread.currentThread().setName("done");
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            repeat("warm ", 50);
            repeat("stop ", Integer.parseInt(args[0]));
        });
        thread.start();
        thread.join();
        System.out.println("caught " + caught);
    }
}
