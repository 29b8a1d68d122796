// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test that allocates nothing: {@link MaxAllocated} with {@code objects = 0}. */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@ExtendWith(LimitsExtension.class)
public @interface NoAllocation {
    /** Only what is allocated in or below methods that match, as with {@code steptrace --site}; all if empty. */
    String site() default "";

    /** How often the method is called before it is measured. */
    int warmups() default 0;

    /** Whether all other threads count, too, from the method's entry to its exit. */
    boolean allThreads() default false;
}
