// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import com.google.common.base.Splitter;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.connect.Mistake;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options that say which lock is meant: a mixin for picocli. */
final class LockChoiceOptions {
    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = {"-x", "--exclusive"},
            description = "The exclusive side of a read-write lock. Without -x, -s and --limit the lock is a mutex.")
    private boolean exclusive;

    @Option(
            names = {"-s", "--shared"},
            description = "The shared side: others may hold the lock with -s meanwhile.")
    private boolean shared;

    @Option(
            names = "--limit",
            paramLabel = "M",
            description = "A semaphore with M permits. All users of the path must give the same M.")
    private @Nullable Integer limit;

    @Option(
            names = "--permits",
            paramLabel = "N",
            description = "How many permits of the semaphore to take. Default: 1.")
    private @Nullable Integer permits;

    @Option(
            names = "--all",
            paramLabel = "PATH,PATH...",
            description = "Several locks, all or nothing, instead of PATH. May be repeated.")
    private List<String> all = new ArrayList<>();

    /** Takes an option from {@link UsualLine}. Returns whether there is one of that name. */
    boolean take(String option) {
        switch (option) {
            case "-x" -> exclusive = true;
            case "-s" -> shared = true;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Takes an option with a value. */
    boolean take(String option, String value) {
        switch (option) {
            case "--limit" -> limit = Integer.valueOf(value);
            case "--permits" -> permits = Integer.valueOf(value);
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * Which lock is meant.
     *
     * @param words what follows the options; the path is removed from it
     * @throws ParameterException if the options make no sense, with what to do
     */
    LockChoice choice(List<String> words) {
        LockChoice.Mode mode = mode();
        List<String> paths = all.isEmpty() ? List.of(path(words)) : allPaths();
        return new LockChoice(mode, paths, permits == null ? 1 : permits, limit == null ? 1 : limit);
    }

    private LockChoice.Mode mode() {
        if (exclusive && shared) {
            throw wrong("-x is exclusive and -s is shared: give one of them");
        }
        Integer most = limit;
        if (most == null) {
            if (permits != null) {
                throw wrong("--permits is for a semaphore: add --limit, the number of all permits");
            }
            return shared ? LockChoice.Mode.SHARED : exclusive ? LockChoice.Mode.EXCLUSIVE : LockChoice.Mode.MUTEX;
        }
        if (exclusive || shared) {
            throw wrong("--limit makes a semaphore, which is neither exclusive nor shared: leave "
                    + (exclusive ? "-x" : "-s") + " out");
        }
        if (most < 1) {
            throw wrong("--limit is " + most + ", must be 1 or more");
        }
        if (permits != null && (permits < 1 || permits > most)) {
            throw wrong("--permits is " + permits + ", must be 1 to " + most + ", the --limit");
        }
        return LockChoice.Mode.SEMAPHORE;
    }

    private String path(List<String> rest) {
        if (rest.isEmpty()) {
            throw wrong("the path of the lock is missing: give one such as /locks/nightly");
        }
        return checked(rest.remove(0), "");
    }

    /** An empty part may be a variable that a script did not set: without it, one lock too few would be taken. */
    private List<String> allPaths() {
        List<String> paths = all.stream()
                .flatMap(each -> Splitter.on(',').splitToStream(each))
                .toList();
        if (paths.contains("")) {
            throw wrong("--all has an empty path: give paths with one comma between them, such as --all /a,/b");
        }
        Set<String> distinct = new HashSet<>();
        for (String path : paths) {
            if (!distinct.add(checked(path, "--all: "))) {
                throw wrong("--all names " + path + " twice: leave one out");
            }
        }
        if (paths.size() == 1) {
            throw wrong("--all takes several paths with commas between them; for one lock give PATH without --all");
        }
        return paths;
    }

    private String checked(String path, String where) {
        try {
            return new LockPathConverter().convert(path);
        } catch (TypeConversionException e) {
            throw Mistake.of(spec, where + e.getMessage(), e);
        }
    }

    private ParameterException wrong(String message) {
        return Mistake.of(spec, message, null);
    }
}
