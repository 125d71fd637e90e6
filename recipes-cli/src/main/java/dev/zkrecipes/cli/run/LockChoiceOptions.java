// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.LockPath;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say which lock is meant: a mixin for picocli. */
final class LockChoiceOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = {"-x", "--exclusive"},
            description = "Nobody else holds the lock meanwhile. This is the default.")
    private boolean exclusive;

    @Option(
            names = {"-s", "--shared"},
            description = "Others may hold it shared as well.")
    private boolean shared;

    @Option(
            names = "--mutex",
            description = "Exclusive, on a path that Java programs use as InterProcessMutex: ours or Curator's.")
    private boolean mutex;

    @Option(
            names = "--limit",
            paramLabel = "M",
            description = "A semaphore: M permits in all. All who use the path must give the same number.")
    private @Nullable Integer limit;

    @Option(
            names = "--permits",
            paramLabel = "N",
            description = "How many permits of the semaphore to take. Default: 1.")
    private @Nullable Integer permits;

    @Option(
            names = "--all",
            paramLabel = "PATH",
            split = ",",
            converter = LockPath.class,
            description = "Several locks, all or nothing, instead of PATH.")
    private List<String> all = new ArrayList<>();

    /**
     * Which lock is meant, if that makes sense.
     *
     * @param words what follows the options; the path is taken away from it
     * @throws ParameterException if it makes none, with what to do
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
        if (mutex && shared) {
            throw wrong(
                    "--mutex is always exclusive: leave -s out, or leave --mutex out for a lock that can be shared");
        }
        Integer most = limit;
        if (most == null) {
            if (permits != null) {
                throw wrong("--permits is of a semaphore: add --limit, the number of permits in all");
            }
            return shared ? LockChoice.Mode.SHARED : mutex ? LockChoice.Mode.MUTEX : LockChoice.Mode.EXCLUSIVE;
        }
        if (exclusive || shared || mutex) {
            throw wrong("--limit makes a semaphore, which is neither exclusive nor shared: leave "
                    + (exclusive ? "-x" : shared ? "-s" : "--mutex") + " out");
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
            throw wrong("the path of the lock is missing: give one such as /locks/nightly, and what to run");
        }
        try {
            return new LockPath().convert(rest.remove(0));
        } catch (RuntimeException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private List<String> allPaths() {
        if (all.size() == 1) {
            throw wrong("--all takes several paths with commas in between; for one give just PATH");
        }
        if (all.stream().distinct().count() < all.size()) {
            throw wrong("--all names a path twice: a lock cannot be waited for by its holder");
        }
        return all;
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
