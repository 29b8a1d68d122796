// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Makes traces of parts of itself (steptrace.Agent), between most of which its classes keep their probes. For each it prints what
 * tests/jvm/jar_cases.py shall find: the trace's name, a phase or -, a class, the objects of it that were allocated.
 */
final class KeptProbes {
    static final String KEEP = "probes=keep,events=alloc+free,engine=bytecode,stack=8";
    static final String PLAIN = "events=alloc+free,engine=bytecode";

    static class Thing {
        int a;
    }

    static class Late {
        static volatile Object sink;
        int a;

        static void make(int n) {
            for (int i = 0; i < n; i++)
                sink = new Late();
        }
    }

    /** Defines Late anew, as a class that was not there. */
    static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Late.class.getName()))
                return super.loadClass(name, resolve);
            try (InputStream in = KeptProbes.class.getResourceAsStream("KeptProbes$Late.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException fault) {
                throw new ClassNotFoundException(name, fault);
            }
        }

        Method late() throws ReflectiveOperationException {
            Method make = Class.forName(Late.class.getName(), true, this).getDeclaredMethod("make", int.class);
            make.setAccessible(true);
            return make;
        }
    }

    private static Method command;

    private static void agent(String options) throws ReflectiveOperationException {
        command.invoke(null, options);
    }

    static void work(int n) {
        for (int i = 0; i < n; i++)
            Support.sink = new Thing();
    }

    static void other(int n) {
        for (int i = 0; i < n; i++)
            Support.sink = new Thing();
    }

    static void late(Method make, int n) throws ReflectiveOperationException {
        make.invoke(null, n);
    }

    /** `works` and `others` objects in two methods. */
    private static void trace(String name, String options, int works, int others) throws ReflectiveOperationException {
        agent("file=" + name + ".step,existing=no,gentle=no," + options);
        work(works);
        other(others);
        agent("stop");
    }

    private static void expect(String trace, String phase, Class<?> of, int objects) {
        System.out.println(trace + " " + phase + " " + of.getName() + " " + objects);
    }

    private static void withLate(String name, Method make, int n) throws ReflectiveOperationException {
        agent("file=" + name + ".step,existing=no,gentle=no," + KEEP + ",phase=facts.KeptProbes.late");
        late(make, n);
        agent("stop");
        expect(name, "facts.KeptProbes.late", Late.class, n);
    }

    private static void rounds() throws ReflectiveOperationException {
        String ofWork = KEEP + ",phase=facts.KeptProbes.work", ofOther = KEEP + ",phase=facts.KeptProbes.other";
        trace("first", ofWork, 3, 5);
        expect("first", "facts.KeptProbes.work", Thing.class, 3);
        trace("same", ofWork, 4, 1);
        expect("same", "facts.KeptProbes.work", Thing.class, 4);
        trace("phases", ofOther, 2, 6);
        expect("phases", "facts.KeptProbes.other", Thing.class, 6);
        expect("phases", "facts.KeptProbes.work", Thing.class, -1);
        Class.forName("Huge", false, KeptProbes.class.getClassLoader()).getDeclaredMethods();
        Method make = new Loader().late();
        withLate("loaded", make, 7);
        withLate("again", make, 9);
        Support.collect();
        trace("sampled", "engine=sampled,sample=1k", 5, 5);
        trace("after", ofWork, 5, 7);
        expect("after", "facts.KeptProbes.work", Thing.class, 5);
        trace("jvmti", "engine=jvmti,events=alloc+free", 8, 2); // of this thread it may have nothing
        trace("kept", KEEP, 1, 2);
        expect("kept", "-", Thing.class, 3);
        trace("methods", "events=alloc+free+method,engine=bytecode,include=facts.KeptProbes", 2, 2);
        expect("methods", "-", Thing.class, 4);
        trace("once", KEEP, 6, 2);
        expect("once", "-", Thing.class, 8);
        trace("plain", PLAIN, 1, 8);
        expect("plain", "-", Thing.class, 9);
        trace("last", KEEP, 1, 1);
        expect("last", "-", Thing.class, 2);
    }

    /** Classes are loaded, and their objects made, all the time. */
    private static Thread churn(AtomicBoolean ends) {
        Thread thread = new Thread(() -> {
            try {
                while (!ends.get()) {
                    new Loader().late().invoke(null, 3);
                    Support.pause(1);
                }
            } catch (ReflectiveOperationException fault) {
                throw new IllegalStateException(fault);
            }
        });
        thread.start();
        return thread;
    }

    public static void main(String[] words) throws Exception {
        command = Class.forName("steptrace.Agent").getMethod("command", String.class);
        AtomicBoolean ends = new AtomicBoolean();
        Thread churn = churn(ends);
        rounds();
        ends.set(true);
        churn.join();
    }
}
