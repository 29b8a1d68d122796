// SPDX-License-Identifier: Apache-2.0
package steptrace.jmh;

import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;

/**
 * A number of a fork. It comes with the last iteration, and the others, which lack it, do not count as 0 as they would with
 * JMH's own class. JMH sends it from the fork to its own JVM.
 */
final class PerOperation extends Result<PerOperation> {
    private static final long serialVersionUID = 1;

    private PerOperation(String label, ListStatistics values, String unit) {
        super(ResultRole.SECONDARY, label, values, unit, AggregationPolicy.AVG);
    }

    static PerOperation of(String label, double value, String unit) {
        ListStatistics values = new ListStatistics();
        values.addValue(value);
        return new PerOperation(label, values, unit);
    }

    /** The mean of forks, with its error. */
    private static PerOperation mean(Collection<PerOperation> results) {
        PerOperation first = results.iterator().next();
        ListStatistics values = new ListStatistics();
        for (PerOperation result : results)
            values.addValue(result.getScore());
        return new PerOperation(first.label, values, first.unit);
    }

    @Override
    protected Aggregator<PerOperation> getThreadAggregator() {
        return PerOperation::mean;
    }

    @Override
    protected Aggregator<PerOperation> getIterationAggregator() {
        return PerOperation::mean;
    }

    @Override
    protected PerOperation getZeroResult() {
        return null;
    }
}
