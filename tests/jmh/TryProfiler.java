// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;

import steptrace.jmh.StepTraceProfiler;

/** Does with the profiler what JMH does: a fork with its options, then the results. */
public class TryProfiler {
    static class Outer {
        static class Inner {
            static Object kept;

            /** Two operations: 48 and 16 bytes. */
            void pair() {
                kept = new int[8];
                kept = deep(12);
            }

            static Object deep(int depth) {
                return depth == 0 ? new Object() : deep(depth - 1);
            }
        }

        public static void main(String[] arguments) {
            Inner inner = new Inner();
            for (int i = 0; i < 1000; i++) {
                inner.pair();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        BenchmarkParams params = new BenchmarkParams("TryProfiler.Outer.Inner.pair", 2);
        StepTraceProfiler profiler = new StepTraceProfiler(arguments[0]);
        List<String> command = new ArrayList<>(Arrays.asList(System.getProperty("java.home") + "/bin/java"));
        command.addAll(profiler.addJVMOptions(params));
        command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), "TryProfiler$Outer"));
        Process fork = new ProcessBuilder(command).inheritIO().start();
        if (fork.waitFor() != 0) {
            throw new IllegalStateException("the fork ends with " + fork.exitValue());
        }
        for (Result<?> result : profiler.afterTrial(new BenchmarkResult(params), fork.pid(), (File) null, (File) null)) {
            System.out.println(result.name + " " + result.value + " " + result.unit);
        }
    }
}
