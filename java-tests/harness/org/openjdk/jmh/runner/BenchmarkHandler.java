// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.runner;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;

/** JMH's method that runs an iteration. */
public class BenchmarkHandler {
    private final Runnable work;

    public BenchmarkHandler(Runnable work) {
        this.work = work;
    }

    public Object runIteration(BenchmarkParams benchmark, IterationParams iteration, boolean last) {
        work.run();
        return iteration;
    }
}
