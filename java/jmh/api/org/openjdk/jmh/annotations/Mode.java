// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.annotations;

/** JMH's modes. */
public enum Mode { Throughput, AverageTime, SampleTime, SingleShotTime, All }
