// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.runner;

public enum IterationType { WARMUP, MEASUREMENT }
