// SPDX-License-Identifier: Apache-2.0
package org.openjdk.jmh.annotations;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** JMH's annotation of this name. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Group {
    String value() default "group";
}
