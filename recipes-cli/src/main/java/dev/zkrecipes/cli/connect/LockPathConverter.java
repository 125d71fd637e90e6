// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import dev.zkrecipes.cli.text.PlainText;
import org.apache.zookeeper.common.PathUtils;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts the path of a lock. It refuses an invalid path before anything is sent. */
public final class LockPathConverter implements ITypeConverter<String> {
    /** Called by picocli. */
    public LockPathConverter() {}

    @Override
    public String convert(String value) {
        try {
            PathUtils.validatePath(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("'" + PlainText.of(value) + "' is not the path of a lock: "
                    + PlainText.of(String.valueOf(e.getMessage())) + "; give one such as /locks/nightly");
        }
        if (!value.equals(PlainText.of(value))) {
            throw new TypeConversionException(
                    "'" + PlainText.of(value) + "' is not the path of a lock: it contains a character that"
                            + " cannot be shown; give one such as /locks/nightly");
        }
        return value;
    }
}
