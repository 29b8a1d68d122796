// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.infra;

import org.openjdk.jmh.runner.IterationType;

/** As in JMH, the type is a field of a superclass. */
public class IterationParams extends TypedParams {
    public IterationParams(IterationType type) {
        super(type);
    }
}

class TypedParams {
    protected final IterationType type;

    TypedParams(IterationType type) {
        this.type = type;
    }
}
