// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.InvocationTargetException;
import java.util.Collection;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/**
 * The name of steptrace.jmh.StepTraceProfiler after -prof: JMH knows profilers that are not its own by the names of their
 * classes. A class of this name cannot refer to a package of this name; hence the reflection.
 */
public final class steptrace implements InternalProfiler {
    private final InternalProfiler profiler;

    public steptrace() throws Exception {
        this("");
    }

    public steptrace(String options) throws Exception {
        try {
            profiler = (InternalProfiler) Class.forName("steptrace.jmh.StepTraceProfiler").getConstructor(String.class)
                    .newInstance(options);
        } catch (InvocationTargetException fault) {
            throw fault.getCause() instanceof Exception ? (Exception) fault.getCause() : fault;
        }
    }

    @Override
    public String getDescription() {
        return profiler.getDescription();
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        profiler.beforeIteration(benchmark, iteration);
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        return profiler.afterIteration(benchmark, iteration, result);
    }
}
