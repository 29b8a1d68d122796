// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.infra;

/** What the profiler asks of JMH's class of this name. */
public class BenchmarkParams {
    private final String benchmark;
    private final int operations;

    public BenchmarkParams(String benchmark, int operations) {
        this.benchmark = benchmark;
        this.operations = operations;
    }

    public String getBenchmark() {
        return benchmark;
    }

    public int getOpsPerInvocation() {
        return operations;
    }
}
