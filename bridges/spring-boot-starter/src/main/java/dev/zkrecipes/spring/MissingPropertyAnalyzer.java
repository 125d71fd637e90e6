// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a start that failed because a property is missing. Boot itself explains properties with wrong values. */
final class MissingPropertyAnalyzer extends AbstractFailureAnalyzer<InvalidConfigurationPropertyValueException> {

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable rootFailure, InvalidConfigurationPropertyValueException cause) {
        if (cause.getValue() != null || !cause.getName().startsWith("zkrecipes.")) {
            return null;
        }
        return new FailureAnalysis(
                "The property " + cause.getName() + " is missing: " + cause.getReason() + ".",
                "Set " + cause.getName() + ", or zkrecipes.enabled=false to do without ZooKeeper.",
                cause);
    }
}
