// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.ZooKeeper;

/** A credential: {@code SCHEME:ID}, such as {@code digest:user:password}. The id is never shown. */
record Credential(String scheme, String id) {

    /** Parses one credential. {@code source} names its origin in errors. */
    static Credential parse(String text, String source) {
        Mistake.refuseByteOrderMark(text, source);
        int colon = text.indexOf(':');
        if (colon < 1 || colon == text.length() - 1) {
            throw new IllegalArgumentException(source + ": expected SCHEME:ID, such as digest:user:password");
        }
        return new Credential(text.substring(0, colon), text.substring(colon + 1));
    }

    /** Parses one credential per line. Skips empty lines and lines that start with #. */
    static List<Credential> parseLines(List<String> lines, String source) {
        List<Credential> all = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                all.add(parse(line, source + ", line " + (i + 1)));
            }
        }
        return all;
    }

    static List<Credential> read(Path file, String source) {
        String where = source + " " + file;
        List<Credential> all;
        try {
            all = parseLines(Files.readAllLines(file), where);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(where + " does not exist", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(where + " cannot be read as text: " + e, e);
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(where + " contains no credentials: give one SCHEME:ID per line");
        }
        return all;
    }

    ZooKeeperClientBuilder addTo(ZooKeeperClientBuilder builder) {
        return builder.auth(scheme, id.getBytes(StandardCharsets.UTF_8));
    }

    void addTo(ZooKeeper zk) {
        zk.addAuthInfo(scheme, id.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return scheme + ":...";
    }
}
