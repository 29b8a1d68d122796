// SPDX-License-Identifier: Apache-2.0
package steptrace.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;
import steptrace.Phase;
import steptrace.limits.Recording;
import steptrace.limits.Sites;

/**
 * A profiler of JMH: what an operation allocates, to the object and to the byte, with the sites. It has one trace of each
 * fork, of its measured iterations. Warm-ups are not traced: in the last one the JVM's own counters show what is left when the
 * JIT compiler has removed what it can.
 */
public final class StepTraceProfiler implements InternalProfiler {
    private static final String PHASE = "jmh";
    private static final String TRACES = "traces=";

    private final Machine machine = new Machine();
    private double machineBytes = Double.NaN; /* of an operation of a batch of one, in the last warm-up */
    private Recording recording;
    private long operations;
    private int iterations;

    public StepTraceProfiler() throws ProfilerException {
        this("");
    }

    /** traces=DIRECTORY keeps the traces there. */
    public StepTraceProfiler(String options) throws ProfilerException {
        if (options.startsWith(TRACES) && options.length() > TRACES.length())
            System.setProperty("steptrace.traces", options.substring(TRACES.length()));
        else if (!options.isEmpty())
            throw new ProfilerException("the profiler steptrace has the option traces=DIRECTORY alone, not " + options);
    }

    @Override
    public String getDescription() {
        return "StepTrace: what an operation allocates, as the source has it, with sites; options: traces=DIRECTORY";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() == IterationType.WARMUP) {
            machine.begin();
            return;
        }
        try {
            if (recording == null)
                recording = new Recording(benchmark.getBenchmark(), "auto", PHASE);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
        Phase.beginProgram(PHASE);
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        long done = result.getMetadata().getAllOps();
        if (iteration.getType() == IterationType.WARMUP) {
            long bytes = machine.end();
            machineBytes = bytes < 0 || done == 0 ? Double.NaN : (double) bytes / done / iteration.getBatchSize();
            return List.of();
        }
        Phase.endProgram(PHASE);
        operations += done;
        iterations++;
        return iterations < iteration.getCount() ? List.of() : end(benchmark, iteration);
    }

    /** JMH runs a fork's iterations in one thread, as a recording wants it. */
    private Collection<? extends Result> end(BenchmarkParams benchmark, IterationParams iteration) {
        try (Recording ended = recording) {
            recording = null;
            ended.end();
            List<String> sites = BenchmarkMethods.sites(benchmark.getBenchmark());
            List<Sites> found = new ArrayList<>();
            for (String site : sites)
                found.add(ended.sites(false, site));
            Sites all = ended.sites(false, sites.toArray(String[]::new)); /* methods of a group may call each other */
            return results(benchmark, iteration, sites, found, all, ended.kept());
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    private Collection<? extends Result> results(BenchmarkParams benchmark, IterationParams iteration, List<String> sites,
            List<Sites> found, Sites all, String kept) {
        double bytes = (double) all.bytes() / operations, objects = (double) all.objects() / operations;
        String unknown = benchmark.getForks() == 0 ? "the benchmark has no JVM of its own"
                : sites.size() > 1 ? "the methods of a group have other shares of each iteration"
                : benchmark.getMode() == Mode.SingleShotTime ? "a single shot is not compiled yet"
                : Double.isNaN(machineBytes) ? "there was no warm-up, or threads ended in it" : "";
        double machineOnly = machineBytes * iteration.getBatchSize();
        double removed = Math.max(0, bytes - machineOnly); /* the counters have what JMH allocates, too */
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%.3f objects, %.3f bytes an operation; %,d operations%n", objects, bytes, operations));
        text.append(unknown.isEmpty()
                ? String.format(Locale.ROOT, "of these the JIT compiler removes at least %.3f bytes: in the last warm-up, which was not "
                        + "traced, the JVM counted %.3f bytes an operation%n", removed, machineOnly)
                : String.format("what the JIT compiler removes is not known: %s%n", unknown));
        if (iteration.getBatchSize() > 1 && benchmark.getMode() != Mode.SingleShotTime)
            text.append(String.format("JMH counts whole batches: there were up to %,d operations more%n",
                    (long) iterations * benchmark.getThreads()));
        for (int i = 0; i < found.size(); i++)
            text.append(found.get(i).perOperation(sites.get(i), operations));
        List<Result> results = new ArrayList<>(List.of(PerOperation.of("steptrace.bytes", bytes, "B/op"),
                PerOperation.of("steptrace.objects", objects, "#/op"), new TextResult(text + kept, "steptrace")));
        if (unknown.isEmpty())
            results.add(PerOperation.of("steptrace.removed", removed, "B/op"));
        return results;
    }
}
