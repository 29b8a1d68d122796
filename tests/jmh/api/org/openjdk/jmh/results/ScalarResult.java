// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

/** JMH's class of this name. */
public class ScalarResult extends Result<ScalarResult> {
    public ScalarResult(String name, double value, String unit, AggregationPolicy policy) {
        super(name, value, unit);
    }
}
