// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.dacapo.harness.Callback;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.runner.BenchmarkHandler;
import org.openjdk.jmh.runner.IterationType;
import steptrace.Phase;

/** Phases of every kind. It keeps its own list of the open ones, and prints how many objects of
 * which class were made in phases of which name. */
public class Phases {
    static class Thing {}
    static class Other {}

    static final Map<String, Integer> counts = new TreeMap<>();
    static final List<String> program = new ArrayList<>();
    static final ThreadLocal<List<String>> mine = ThreadLocal.withInitial(ArrayList::new);
    static volatile Object sink;

    static void make(int n) {
        for (int i = 0; i < n; i++)
            sink = new Thing();
        synchronized (counts) {
            List<String> open = new ArrayList<>(mine.get());
            open.addAll(program);
            open.stream().distinct().forEach(name -> counts.merge(name, n, Integer::sum));
            counts.merge("(all)", n, Integer::sum);
        }
    }

    static void begin(String name) {
        make(1);
        Phase.begin(name);
        mine.get().add(name);
        make(2);
    }

    static void end() {
        make(3);
        Phase.end();
        if (!mine.get().isEmpty())
            mine.get().remove(mine.get().size() - 1);
        make(1);
    }

    /** Ends the phases in that one, too. */
    static void end(String name) {
        make(1);
        Phase.end(name);
        int at = mine.get().lastIndexOf(name);
        if (at >= 0)
            mine.get().subList(at, mine.get().size()).clear();
        make(1);
    }

    /** phase=facts.Phases.called */
    static int called(int depth, boolean fails) {
        mine.get().add("facts.Phases.called");
        try {
            make(5);
            if (depth > 0)
                return called(depth - 1, fails) + 1;
            if (fails)
                throw new IllegalStateException();
            return 0;
        } finally {
            make(1);
            mine.get().remove(mine.get().size() - 1);
        }
    }

    /** phase=facts.Phases$Made.<init> */
    static class Made {
        Made(int n) {
            this(check(n), true);
        }

        Made(int n, boolean checked) {
            mine.get().add("facts.Phases$Made.<init>");
            make(n);
            mine.get().remove(mine.get().size() - 1);
        }

        static int check(int n) {
            if (n < 0)
                throw new IllegalArgumentException();
            make(1);
            return n;
        }
    }

    static void step(int what, String name) {
        switch (what) {
        case 0, 1, 2 -> begin(name);
        case 3, 4 -> end();
        case 5 -> end(name);
        case 6 -> called(2, false);
        case 7 -> {
            try {
                called(3, true);
            } catch (IllegalStateException e) {
                make(2);
            }
        }
        case 8 -> {
            try {
                sink = new Made(name.length() - 1);
            } catch (IllegalArgumentException e) {
                make(1);
            }
        }
        default -> make(4);
        }
    }

    static void walk(long seed, int steps) {
        Random random = new Random(seed);
        String[] names = {"c[*]?", "a", "b", "long name", "\ud83d\ude00 \u00e4\"'\n\\:,|", "null"};
        for (int i = 0; i < steps; i++)
            step(random.nextInt(10), names[random.nextInt(names.length)]);
    }

    static Thread start(boolean virtual, Runnable work) throws Exception {
        if (virtual)
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                .invoke(null, work);
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    static void onThreads(int count, boolean virtual, int steps) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long seed = i;
            threads.add(start(virtual, () -> walk(seed, steps)));
        }
        for (Thread thread : threads)
            thread.join();
    }

    static void ofProgram(String name, boolean begins) {
        make(1);
        if (begins)
            Phase.beginProgram(name);
        else if (name == null)
            Phase.endProgram();
        else
            Phase.endProgram(name);
        synchronized (counts) {
            if (begins)
                program.add(name);
            else
                program.remove(name == null ? program.size() - 1 : program.lastIndexOf(name));
        }
        make(1);
    }

    /** Another thread makes objects directly before the begin and after the end, and in between. */
    static void handover() throws Exception {
        for (int i = 0; i < 20; i++) {
            on(() -> make(7));
            ofProgram("handover", true);
            on(() -> make(8));
            ofProgram("handover", false);
            on(() -> make(9));
        }
    }

    static void on(Runnable work) throws Exception {
        start(false, work).join();
    }

    static void harnesses() throws Exception {
        Callback callback = new Callback();
        callback.startWarmup("x");
        program.add("warmup");
        on(() -> make(10));
        program.remove("warmup");
        callback.stopWarmup(1);
        make(1);
        callback.start("x");
        program.add("measure");
        on(() -> make(11));
        program.remove("measure");
        callback.stop(1);
        make(1);
        callback.warmUp(true);
        callback.start("x");
        program.add("warmup");
        on(() -> make(13));
        program.remove("warmup");
        callback.stop(1);
        make(1);
        for (IterationType type : IterationType.values()) {
            String name = type == IterationType.WARMUP ? "warmup" : "measure";
            program.add(name);
            BenchmarkHandler handler = new BenchmarkHandler(() -> make(12));
            handler.runIteration(new BenchmarkParams(), new IterationParams(type), true);
            handler.runIteration(new BenchmarkParams(), new IterationParams(type), true, false);
            program.remove(name);
            make(1);
        }
    }

    static void many() {
        for (int i = 0; i < 100_000; i++) {
            Phase.begin("many");
            sink = new Other();
            Phase.end();
            if (i % 10 == 0)
                sink = new Other();
        }
        String name = "x".repeat(70_000);
        Phase.begin(name);
        sink = new Other();
        Phase.end(name);
        Phase.end(null);
        Phase.begin(null);
        Phase.end("null");
    }

    public static void main(String[] words) throws Exception {
        if (words.length > 0 && words[0].equals("wait")) {
            Phase.begin("before"); /* unknown to the agent, as is its end */
            System.out.println("attach");
            System.in.read();
            Phase.end();
        }
        ofProgram("program", true);
        onThreads(4, false, 300);
        ofProgram("inner", true);
        onThreads(3, Runtime.version().feature() >= 21, 300);
        ofProgram("program", false);
        make(2);
        ofProgram(null, false);
        walk(17, 300);
        while (!mine.get().isEmpty())
            end();
        handover();
        harnesses();
        many();
        for (Map.Entry<String, Integer> count : counts.entrySet())
            System.out.println("count " + count.getValue() + " " + count.getKey().replace("\n", "{n}"));
        Phase.beginProgram("open");
        sink = new Other();
    }
}
