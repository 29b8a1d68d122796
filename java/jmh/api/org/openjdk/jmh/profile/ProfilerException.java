// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.profile;

/** JMH's class of this name. */
public class ProfilerException extends Exception {
    private static final long serialVersionUID = 1;

    public ProfilerException(String message) {
        super(message);
    }
}
