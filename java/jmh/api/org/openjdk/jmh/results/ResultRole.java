// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

/** The one of JMH's that the profiler uses. */
public enum ResultRole { SECONDARY }
