// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Any text as the payload of a node's name, and back. Different texts have different payloads. */
final class Payloads {
    private Payloads() {}

    static String escape(String text) {
        String percent = URLEncoder.encode(text, StandardCharsets.UTF_8);
        return percent.replace("-", "%2D")
                .replace("*", "%2A")
                .replace("+", "%20")
                .replace('%', '~');
    }

    static String unescape(String payload) {
        return URLDecoder.decode(payload.replace('~', '%'), StandardCharsets.UTF_8);
    }
}
