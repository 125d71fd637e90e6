// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.zkrecipes.cli.Tool;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** JSON as other programs read it: a strict parser always, and {@code jq} too where it is installed. */
public final class ReadJson {
    private static final JsonMapper STRICT = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private ReadJson() {}

    /** Reads one document; fails if it is malformed, if anything follows it, or if {@code jq} reads something else. */
    public static JsonNode read(String json) throws IOException, InterruptedException {
        JsonNode document = STRICT.readTree(json);
        if (Tool.JQ.isInstalled()) {
            assertThat(STRICT.readTree(jq(json))).isEqualTo(document);
        }
        return document;
    }

    private static String jq(String json) throws IOException, InterruptedException {
        Path input = Files.writeString(Files.createTempFile("zklock", ".json"), json);
        try {
            Process jq = new ProcessBuilder("jq", "-c", ".", input.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(jq.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(jq.waitFor()).as(output).isZero();
            return output;
        } finally {
            Files.delete(input);
        }
    }
}
