// SPDX-License-Identifier: Apache-2.0
// COUNT virtual threads (JDK 21 and later) that park, pin, wait with and without time, and hand over.
package storm;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class Virtual {
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Condition CHANGED = LOCK.newCondition();
    static final SynchronousQueue<Integer> QUEUE = new SynchronousQueue<>();
    static final ThreadLocal<Object> LOCAL = ThreadLocal.withInitial(Object::new);
    static volatile Object sink;
    static long total;

    static MethodHandle starter() throws ReflectiveOperationException {
        return MethodHandles.lookup().findStatic(
            Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
    }

    static void give(int value) {
        try {
            sink = LOCAL.get();
            QUEUE.put(value);
        } catch (InterruptedException odd) {
            throw new IllegalStateException(odd);
        }
    }

    static void take() {
        try {
            int value = QUEUE.take();
            LOCK.lock();
            try {
                total += value;
                CHANGED.awaitNanos(1000);
            } finally {
                LOCK.unlock();
            }
            synchronized (LOCAL) {
                sink = new int[value % 9];
                if (value % 16 == 0)
                    LOCAL.wait(1);
            }
            Thread.yield();
        } catch (InterruptedException odd) {
            throw new IllegalStateException(odd);
        }
    }

    public static void main(String[] args) throws Throwable {
        MethodHandle start = starter();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]) / 2; i++) {
            int value = i;
            threads.add((Thread) start.invoke((Runnable) () -> give(value)));
            threads.add((Thread) start.invoke((Runnable) Virtual::take));
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println("total " + total);
    }
}
