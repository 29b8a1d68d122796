// SPDX-License-Identifier: Apache-2.0
// A profiler of JMH: each fork is traced, and an operation's bytes and objects are added to the results.
// They are counted, not sampled: what was allocated in or below the benchmark's method, divided by its
// calls. Of a traced fork the JIT compiler removes no allocation (scalar replacement is off), so the figures are
// of the source, and gc.alloc.rate.norm of JMH's -prof gc may be less. Times of such a fork are not those of an
// untraced one. See docs/recipes.md.
package steptrace.jmh;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

public final class StepTraceProfiler implements ExternalProfiler {
    /** The calls of each method that was counted. */
    private static final String CALLS = "select method, sum(calls) from method_counts group by method";
    private static final Pattern SUM = Pattern.compile("\"allocated_(objects|bytes)\": *(\\d+)");

    private final String steptrace;
    private final String directory;
    private int forks;
    private String trace;

    public StepTraceProfiler() throws IOException {
        this("");
    }

    /** -prof steptrace.jmh.StepTraceProfiler:DIRECTORY keeps the traces there; else they are in the current one. */
    public StepTraceProfiler(String directory) throws IOException {
        this.directory = directory.isEmpty() ? "." : directory;
        Files.createDirectories(Path.of(this.directory));
        this.steptrace = System.getProperty("steptrace", "steptrace");
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        trace = directory + "/" + params.getBenchmark() + "-" + ++forks + ".step";
        return Collections.singletonList("-agentpath:" + run("version", "--agent-path") + "=file=" + trace
            + ",events=all,method=count,stack=256,include=" + String.join("+", classes(params.getBenchmark())));
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        BenchmarkParams params = result.getParams();
        double operations = (double) calls(params.getBenchmark()) * params.getOpsPerInvocation();
        long[] sums = allocated(params.getBenchmark());
        return Arrays.asList(perOperation("steptrace.bytes", sums[1], operations, "B/op"),
            perOperation("steptrace.objects", sums[0], operations, "#/op"));
    }

    private long calls(String benchmark) {
        long calls = 0;
        for (String row : run("sql", "--csv", trace, CALLS).split("\\R")) {
            int comma = row.lastIndexOf(',');
            String method = row.substring(0, comma).replace('/', '.').replace('$', '.').replace("\"", "");
            if (method.equals(benchmark)) {
                calls += Long.parseLong(row.substring(comma + 1));
            }
        }
        return calls;
    }

    /** Objects and bytes allocated in or below the method: one pass, whatever the depth of its stacks. */
    private long[] allocated(String benchmark) {
        List<String> command = new ArrayList<>(Arrays.asList("stats", "--json", "--top=1", trace));
        for (String name : classes(benchmark)) {
            command.add("--site=" + name + benchmark.substring(benchmark.lastIndexOf('.')));
        }
        long[] sums = new long[2];
        String printed = run(command.toArray(new String[0]));
        Matcher found = SUM.matcher(printed.substring(printed.indexOf("\"objects\": {")));
        for (int i = 0; i < 2 && found.find(); i++) {
            sums[found.group(1).equals("objects") ? 0 : 1] = Long.parseLong(found.group(2));
        }
        return sums;
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public String getDescription() {
        return "StepTrace: bytes and objects that an operation allocates, as the source has it (without scalar replacement);"
            + " and a trace of each fork";
    }

    private static Result<?> perOperation(String name, long sum, double operations, String unit) {
        return new ScalarResult(name, sum / operations, unit, AggregationPolicy.AVG);
    }

    /** JMH writes a.b.Outer.Inner of a nested class; any of its dots may be a dollar sign. */
    private static Set<String> classes(String benchmark) {
        Set<String> names = new LinkedHashSet<>();
        String name = benchmark.substring(0, benchmark.lastIndexOf('.'));
        for (int at = name.length(); at >= 0; at = name.lastIndexOf('.', at - 1)) {
            names.add(name.substring(0, at) + name.substring(at).replace('.', '$'));
        }
        return names;
    }

    /** What the command prints, without the line feed at its end. */
    private String run(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = steptrace;
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            process.getOutputStream().close();
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0)
                throw new IllegalStateException(String.join(" ", command) + ": exit status " + process.exitValue());
            return printed.trim();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(List.of(command) + ": " + e.getMessage(), e);
        }
    }
}
