// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.util;

import java.io.Serializable;

/** JMH's interface of this name. */
public interface Statistics extends Serializable {
}
