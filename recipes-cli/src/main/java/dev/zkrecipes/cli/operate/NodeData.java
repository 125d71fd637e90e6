// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import com.google.common.base.Splitter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What the data of a lock node say, in the form of {@code docs/versions.md}. The texts are as they were written: not
 * fit for a terminal.
 *
 * @param owner the owner label; {@link #UNKNOWN} if there is none
 * @param requests the requests to give the lock back, the oldest first
 */
record NodeData(String owner, List<GiveBackRequest> requests) {
    static final String UNKNOWN = "unknown";

    /** For a node that may not be read. */
    static final NodeData NONE = new NodeData(UNKNOWN, List.of());

    private static final String VERSION_LINE = "zkrecipes 1";
    private static final String OWNER = "owner=";
    private static final String REVOKE = "revoke=";
    private static final String CURATOR_REVOCATION = "__REVOKE__";
    private static final int LONGEST_FOREIGN = 200;
    private static final int LONGEST = 300;
    private static final int MOST_REQUESTS = 8;
    private static final Pattern MILLISECONDS = Pattern.compile("[0-9]{1,18}");

    static NodeData decode(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        if (text.equals(CURATOR_REVOCATION)) {
            return new NodeData(UNKNOWN, List.of(new GiveBackRequest(UNKNOWN, Optional.empty())));
        }
        if (!text.startsWith(VERSION_LINE + '\n')) {
            boolean isLabel = !text.isEmpty() && text.length() <= LONGEST_FOREIGN;
            return isLabel ? new NodeData(text, List.of()) : NONE;
        }
        List<String> lines = Splitter.on('\n').splitToList(text);
        List<String> requests =
                lines.stream().filter(line -> line.startsWith(REVOKE)).toList();
        return new NodeData(
                lines.stream()
                        .filter(line -> line.startsWith(OWNER))
                        .map(line -> cut(line.substring(OWNER.length())))
                        .findFirst()
                        .orElse(UNKNOWN),
                requests.stream()
                        .skip(Math.max(0, requests.size() - MOST_REQUESTS))
                        .map(line -> request(line.substring(REVOKE.length())))
                        .toList());
    }

    private static GiveBackRequest request(String text) {
        List<String> parts = Splitter.on(' ').limit(3).splitToList(text);
        Optional<Duration> grace = parts.stream()
                .skip(1)
                .limit(1)
                .filter(part -> MILLISECONDS.matcher(part).matches())
                .map(part -> Duration.ofMillis(Long.parseLong(part)))
                .findFirst();
        String requester = parts.size() > 2 && !parts.get(2).isBlank() ? cut(parts.get(2)) : UNKNOWN;
        return new GiveBackRequest(requester, grace);
    }

    /** Nobody may fill the memory or the screen by a label that no client of ours accepts. */
    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...";
    }
}
