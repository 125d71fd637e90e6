// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What a client leaves in queues and has to delete, until the server says that it is gone; and the paths it makes. */
@NullMarked
package dev.zkrecipes.core.internal.clean;

import org.jspecify.annotations.NullMarked;
