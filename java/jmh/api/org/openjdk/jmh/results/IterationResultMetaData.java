// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

/** What the profiler asks of JMH's class of this name. */
public class IterationResultMetaData {
    private final long operations;

    public IterationResultMetaData(long operations) {
        this.operations = operations;
    }

    public long getAllOps() {
        return operations;
    }
}
