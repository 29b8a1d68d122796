// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

/** JMH's class of this name; the test reads what it was made of. */
public abstract class Result<T extends Result<T>> {
    public final String name;
    public final double value;
    public final String unit;

    protected Result(String name, double value, String unit) {
        this.name = name;
        this.value = value;
        this.unit = unit;
    }
}
