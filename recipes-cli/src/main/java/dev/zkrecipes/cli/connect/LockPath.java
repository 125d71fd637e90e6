// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import dev.zkrecipes.cli.text.PlainText;
import org.apache.zookeeper.common.PathUtils;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The path of a lock, refused before anything is sent if no lock can have it. */
public final class LockPath implements ITypeConverter<String> {
    /** Made by the command line. */
    public LockPath() {}

    @Override
    public String convert(String value) {
        try {
            PathUtils.validatePath(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("'" + PlainText.of(value) + "' is no path of a lock: "
                    + PlainText.of(String.valueOf(e.getMessage())) + "; give one such as /locks/nightly");
        }
        if (!value.equals(PlainText.of(value))) {
            throw new TypeConversionException(
                    "'" + PlainText.of(value) + "' is no path of a lock: it holds a character that"
                            + " cannot be shown; give one such as /locks/nightly");
        }
        return value;
    }
}
