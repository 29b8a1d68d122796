// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.util;

import java.util.ArrayList;
import java.util.List;

/** JMH's class of this name. */
public class ListStatistics implements Statistics {
    private static final long serialVersionUID = 1;

    private final List<Double> values = new ArrayList<>();

    public void addValue(double value) {
        values.add(value);
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
