// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.profile;

import java.io.File;
import java.util.Collection;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;

/** JMH's interface of this name, with that of profilers. */
public interface ExternalProfiler {
    String getDescription();

    Collection<String> addJVMInvokeOptions(BenchmarkParams params);

    Collection<String> addJVMOptions(BenchmarkParams params);

    void beforeTrial(BenchmarkParams params);

    Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err);

    boolean allowPrintOut();

    boolean allowPrintErr();
}
