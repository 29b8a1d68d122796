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

    /** JMH 1.36 and before. */
    public Object runIteration(BenchmarkParams benchmark, IterationParams iteration, boolean last) {
        work.run();
        return iteration;
    }

    /** JMH 1.37 and after. */
    public Object runIteration(BenchmarkParams benchmark, IterationParams iteration, boolean first, boolean last) {
        work.run();
        return iteration;
    }
}
