// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.runner;

/** JMH's kinds of iterations. */
public enum IterationType { WARMUP, MEASUREMENT }
