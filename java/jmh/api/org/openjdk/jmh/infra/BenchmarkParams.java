// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.infra;

import org.openjdk.jmh.annotations.Mode;

/** What the profiler asks of JMH's class of this name. */
public class BenchmarkParams {
    private final String benchmark;
    private final Mode mode;
    private final int threads;
    private final int forks;

    public BenchmarkParams(String benchmark, Mode mode, int threads, int forks) {
        this.benchmark = benchmark;
        this.mode = mode;
        this.threads = threads;
        this.forks = forks;
    }

    public String getBenchmark() {
        return benchmark;
    }

    public Mode getMode() {
        return mode;
    }

    public int getThreads() {
        return threads;
    }

    public int getForks() {
        return forks;
    }
}
