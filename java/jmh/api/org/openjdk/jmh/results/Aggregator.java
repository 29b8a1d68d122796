// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.results;

import java.util.Collection;

/** JMH's interface of this name. */
@SuppressWarnings("rawtypes")
public interface Aggregator<R extends Result> {
    R aggregate(Collection<R> results);
}
