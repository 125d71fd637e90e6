// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/**
 * A method with {@link WithLock} was not run: it did not get its lock in time, or while the application stopped. The
 * message names who holds the lock, if that is known.
 *
 * <p>Spring MVC and WebFlux answer with the status 409 (conflict) and, as Spring Boot is set by default, without the
 * message. An {@code @ExceptionHandler} of the application comes first and may answer otherwise.
 */
@ResponseStatus(HttpStatus.CONFLICT)
public final class LockNotAcquiredException extends LockException {
    private static final long serialVersionUID = 1L;

    LockNotAcquiredException(String message) {
        super(message);
    }
}
