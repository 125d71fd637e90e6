// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

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
            throw new TypeConversionException("'" + OneLine.of(value) + "' is no path of a lock: "
                    + OneLine.of(String.valueOf(e.getMessage())) + "; give one such as /locks/nightly");
        }
        if (!value.equals(OneLine.of(value))) {
            throw new TypeConversionException(
                    "'" + OneLine.of(value) + "' is no path of a lock: it holds a character that"
                            + " cannot be shown; give one such as /locks/nightly");
        }
        return value;
    }
}
