// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/**
 * Thrown if a method with {@link WithLock} was not run because its lock was not acquired in time, the thread was
 * interrupted while it waited, or the application is stopping. The message names the holders of the lock, if they are
 * known.
 *
 * <p>Spring MVC and WebFlux answer with the status 409 (conflict) and, with the default settings of Spring Boot,
 * without the message. An {@code @ExceptionHandler} of the application takes precedence and may answer otherwise.
 */
@ResponseStatus(HttpStatus.CONFLICT)
public final class LockNotAcquiredException extends LockException {
    private static final long serialVersionUID = 1L;

    LockNotAcquiredException(String message) {
        super(message);
    }
}
