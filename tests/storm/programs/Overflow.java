// SPDX-License-Identifier: Apache-2.0
// StackOverflowError in each shape of recursion, with the stack's end at many places of it: before each
// dive come 0..DEPTHS-1 other frames.  What a shape counts has to come out even.
package storm;

import java.lang.reflect.Method;
import java.util.function.IntUnaryOperator;

public class Overflow {
    static final Object LOCK = new Object();
    static volatile Object sink;
    static long in, out;

    static int plain(int n) {
        return plain(n + 1) + 1;
    }

    static int inFinally(int n) {
        in++;
        try {
            return inFinally(n + 1) + 1;
        } finally {
            out++;
        }
    }

    static int inLock(int n) {
        synchronized (LOCK) {
            return inLock(n + 1) + 1;
        }
    }

    static synchronized int locked(int n) {
        return locked(n + 1) + 1;
    }

    static int nested(int n) {
        synchronized (LOCK) {
            in++;
            try {
                synchronized (Overflow.class) {
                    return nested(n + 1) + 1;
                }
            } finally {
                out++;
            }
        }
    }

    static int allocating(int n) {
        sink = new int[n % 5];
        return allocating(n + 1) + new Object[] {sink}.length;
    }

    static int rethrown(int n) {
        try {
            return rethrown(n + 1) + 1;
        } catch (StackOverflowError error) {
            throw error;
        }
    }

    static class Built {
        final Built inner;

        Built(int n) {
            inner = new Built(n + 1);
        }
    }

    static class Argument {
        Argument(int n) {
            this(new Argument(n + 1));
        }

        Argument(Argument inner) {
            sink = inner;
        }
    }

    static final IntUnaryOperator[] LAMBDA = {n -> Overflow.LAMBDA[0].applyAsInt(n + 1) + 1};

    public static int reflected(int n) throws Throwable {
        Method method = Overflow.class.getMethod("reflected", int.class);
        try {
            return (Integer) method.invoke(null, n + 1);
        } catch (java.lang.reflect.InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    interface Shape {
        void dive() throws Throwable;
    }

    static final Shape[] SHAPES = {
        () -> plain(0), () -> inFinally(0), () -> inLock(0), () -> locked(0), () -> nested(0),
        () -> allocating(0), () -> rethrown(0), () -> new Built(0), () -> new Argument(0),
        () -> LAMBDA[0].applyAsInt(0), () -> reflected(0)};

    /** Some frames first, each a little larger than a probe needs. */
    static void dive(Shape shape, int before) throws Throwable {
        if (before > 0)
            dive(shape, before - 1);
        else
            shape.dive();
    }

    static boolean overflows(Shape shape, int before) {
        try {
            dive(shape, before);
        } catch (StackOverflowError error) {
            return true;
        } catch (Throwable other) {
            return other.getCause() instanceof StackOverflowError
                || other instanceof LinkageError;
        }
        return false;
    }

    static void run(int depths) {
        for (int i = 0; i < SHAPES.length; i++) {
            int caught = 0;
            for (int before = 0; before < depths; before++)
                if (overflows(SHAPES[i], before))
                    caught++;
            System.out.println(i + ": " + caught + " of " + depths + ", uneven " + (in - out)
                               + ", locked " + (Thread.holdsLock(LOCK)
                                                || Thread.holdsLock(Overflow.class)));
        }
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(null, () -> run(Integer.parseInt(args[0])), "deep", 256 << 10);
        thread.start();
        thread.join();
    }
}
