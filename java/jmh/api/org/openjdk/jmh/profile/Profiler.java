// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.profile;

/** JMH's interface of this name. */
public interface Profiler {
    String getDescription();
}
