// SPDX-License-Identifier: Apache-2.0
// A profiler of JMH: each fork is traced, and an operation's bytes and objects are added to the results.
// They are counted, not sampled: what was allocated in or below the benchmark's method, divided by its
// calls. Times of such a fork are not those of an untraced one. See docs/recipes.md.
package steptrace.jmh;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

public final class StepTraceProfiler implements ExternalProfiler {
    private static final String QUESTION =
        "with recursive at(site, method) as (select site, replace(replace(method, '/', '.'), '$', '.') from sites),"
        + " below(site) as (select site from at where method = 'NAME'"
        + " union select s.site from sites s join below b on s.parent = b.site)"
        + " select (select sum(calls) from method_counts where replace(replace(method, '/', '.'), '$', '.') = 'NAME'),"
        + " count(*), coalesce(sum(size), 0) from objects where site in below";

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
        this.steptrace = System.getProperty("steptrace", "steptrace");
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        trace = directory + "/" + params.getBenchmark() + "-" + ++forks + ".step";
        return Collections.singletonList("-agentpath:" + run("agent-path") + "=file=" + trace
            + ",events=all,method=count,stack=256,include=" + String.join("+", classes(params.getBenchmark())));
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        BenchmarkParams params = result.getParams();
        String[] row = run("sql", "--csv", trace, QUESTION.replace("NAME", params.getBenchmark())).split("\\R")[1].split(",");
        double operations = Double.parseDouble(row[0]) * params.getOpsPerInvocation();
        return Arrays.asList(perOperation("steptrace.bytes", row[2], operations, "B/op"),
            perOperation("steptrace.objects", row[1], operations, "#/op"));
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
        return "StepTrace: bytes and objects that an operation allocates, counted; and a trace of each fork";
    }

    private static Result<?> perOperation(String name, String sum, double operations, String unit) {
        return new ScalarResult(name, Double.parseDouble(sum) / operations, unit, AggregationPolicy.AVG);
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
