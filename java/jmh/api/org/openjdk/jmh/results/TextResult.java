// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

/** JMH's class of this name. */
public class TextResult extends Result<TextResult> {
    private static final long serialVersionUID = 1;

    public final String text;

    public TextResult(String text, String label) {
        super(ResultRole.SECONDARY, label, null, "---", AggregationPolicy.AVG);
        this.text = text;
    }

    @Override
    protected Aggregator<TextResult> getThreadAggregator() {
        return null;
    }

    @Override
    protected Aggregator<TextResult> getIterationAggregator() {
        return null;
    }
}
