// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

/** What the profiler asks of JMH's class of this name. */
public class IterationResult {
    private final IterationResultMetaData metadata;

    public IterationResult(IterationResultMetaData metadata) {
        this.metadata = metadata;
    }

    public IterationResultMetaData getMetadata() {
        return metadata;
    }
}
