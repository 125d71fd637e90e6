// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.text.PlainText;
import java.io.Serial;
import org.apache.zookeeper.KeeperException.Code;

/** A read without an answer about the node, because the connection or the session was lost. */
final class BrokenReadException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Code code;

    BrokenReadException(String path, Code code) {
        super("reading " + PlainText.of(path, 300) + " failed with " + code);
        this.code = code;
    }

    Code code() {
        return code;
    }
}
