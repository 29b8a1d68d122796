// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.infra;

public class BenchmarkParams {
}
