// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

import java.io.Serializable;

import org.openjdk.jmh.util.Statistics;

/** What the profiler asks of JMH's class of this name; the test reads what it was made of. */
public abstract class Result<T extends Result<T>> implements Serializable {
    private static final long serialVersionUID = 1;

    public final String label;
    public final String unit;
    public final Statistics statistics;

    public Result(ResultRole role, String label, Statistics statistics, String unit, AggregationPolicy policy) {
        this.label = label;
        this.unit = unit;
        this.statistics = statistics;
    }

    public double getScore() {
        throw new UnsupportedOperationException();
    }

    protected abstract Aggregator<T> getThreadAggregator();

    protected abstract Aggregator<T> getIterationAggregator();

    protected T getZeroResult() {
        return null;
    }
}
