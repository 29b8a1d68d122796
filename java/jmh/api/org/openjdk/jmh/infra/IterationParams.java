// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.infra;

import org.openjdk.jmh.runner.IterationType;

/** What the profiler asks of JMH's class of this name. */
public class IterationParams {
    private final IterationType type;
    private final int count;
    private final int batchSize;

    public IterationParams(IterationType type, int count, int batchSize) {
        this.type = type;
        this.count = count;
        this.batchSize = batchSize;
    }

    public IterationType getType() {
        return type;
    }

    public int getCount() {
        return count;
    }

    public int getBatchSize() {
        return batchSize;
    }
}
