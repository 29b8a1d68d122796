// SPDX-License-Identifier: Apache-2.0
package tried;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.IterationResultMetaData;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;

/** Does with the profiler what JMH does in a fork: iterations, each with new work for its threads. */
public class TryProfiler {
    static volatile Object kept;

    public static class Base {
        @Benchmark
        public void inherited() {
            kept = new byte[100];
        }
    }

    public static class Outer {
        public static class Inner extends Base {
            /** 32 and 16 bytes. */
            @Benchmark
            public int stays() {
                int[] array = new int[4];
                array[0] = kept == null ? 3 : 4;
                return array[0] + Integer.valueOf(array[0] + 1000);
            }

            @Benchmark
            public void startsThread() {
                Thread thread = new Thread(() -> kept = new byte[1000]);
                thread.start();
                try {
                    thread.join();
                } catch (InterruptedException fault) {
                    throw new IllegalStateException(fault);
                }
            }

            /** Two operations: 48 and 16 bytes. */
            @Benchmark
            public void pair() {
                kept = new int[8];
                kept = deep(12);
            }

            private static Object deep(int depth) {
                return depth == 0 ? new Object() : deep(depth - 1);
            }

            @Benchmark
            @Group("both")
            public void put() {
                kept = new byte[100];
            }

            @Benchmark
            @Group("both")
            public void get() {
                kept = new int[2];
            }
        }
    }

    private static final Outer.Inner INNER = new Outer.Inner();
    private static final Map<String, List<Runnable>> BENCHMARKS = Map.of("inherited", List.of(INNER::inherited),
            "stays", List.of(() -> INNER.stays()), "pair", List.of(INNER::pair), "both", List.of(INNER::put, INNER::get),
            "startsThread", List.of(INNER::startsThread), "unknown", List.of(() -> { }));

    private static void iteration(ExecutorService pool, List<Runnable> methods, int threads, int calls) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Runnable method = methods.get(i % methods.size());
            all.add(pool.submit(() -> {
                for (int call = 0; call < calls; call++)
                    method.run();
                kept = new long[1000]; /* JMH's own */
            }));
        }
        for (Future<?> one : all)
            one.get();
    }

    /** PROFILER'S CLASS, OPTIONS, BENCHMARK, THREADS, WARMUPS, FORKS, BATCH; -bm ss is a batch of 0. */
    public static void main(String[] words) throws Exception {
        InternalProfiler profiler = (InternalProfiler) Class.forName(words[0]).getConstructor(String.class).newInstance(words[1]);
        int threads = Integer.parseInt(words[3]), warmups = Integer.parseInt(words[4]), batch = Integer.parseInt(words[6]);
        int operations = words[2].equals("pair") ? 2 : 1;
        BenchmarkParams benchmark = new BenchmarkParams("tried.TryProfiler.Outer.Inner." + words[2],
                batch == 0 ? Mode.SingleShotTime : Mode.Throughput, threads, Integer.parseInt(words[5]));
        ExecutorService pool = Executors.newFixedThreadPool(threads, work -> {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        });
        for (int i = 0; i < warmups + 3; i++) {
            boolean isWarmup = i < warmups;
            IterationParams params = new IterationParams(isWarmup ? IterationType.WARMUP : IterationType.MEASUREMENT,
                    isWarmup ? warmups : 3, isWarmup ? 1 : Math.max(1, batch));
            int calls = isWarmup ? words[2].equals("startsThread") ? 5 : 200_000 : 1000 + i - warmups;
            profiler.beforeIteration(benchmark, params);
            iteration(pool, BENCHMARKS.get(words[2]), threads, calls);
            long done = (long) threads * operations * calls / params.getBatchSize();
            Collection<? extends Result> results = profiler.afterIteration(benchmark, params,
                    new IterationResult(new IterationResultMetaData(done)));
            for (Result<?> result : results)
                System.out.println(i + " " + result.label + " "
                        + (result instanceof TextResult text ? text.text : result.statistics + " " + result.unit));
        }
    }
}
