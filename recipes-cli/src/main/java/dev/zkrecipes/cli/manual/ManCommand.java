// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.manual;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code zklock man}: the pages of the manual. */
@Command(
        name = "man",
        header = "Prints pages of the manual.",
        description = {"Prints a page in the form that man(1) reads, or writes all of them into a folder.", ""},
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "64:the command line is wrong"},
        footerHeading = "%nExamples:%n",
        footer = {"  zklock man ls | man -l -", "  zklock man --all /usr/local/share/man/man1"})
public final class ManCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "COMMAND",
            arity = "0..1",
            description = "The command whose page to print. Default: zklock itself.")
    private @Nullable String name;

    @Option(
            names = "--all",
            paramLabel = "FOLDER",
            description = "Write all pages into this folder, made if it does not exist.")
    private @Nullable String folder;

    /** For picocli. */
    public ManCommand() {}

    /** Prints or writes. */
    @Override
    public void run() {
        CommandLine zklock = spec.root().commandLine();
        String into = folder;
        if (into == null) {
            print(new ManPage(named(zklock)));
        } else if (into.isBlank()) {
            throw new ParameterException(spec.commandLine(), "--all: the name of the folder is empty; give one");
        } else if (name == null) {
            write(pages(zklock), Path.of(into));
        } else {
            throw new ParameterException(
                    spec.commandLine(),
                    "--all writes the pages of all commands: leave out " + name + ", or leave out --all");
        }
    }

    private void print(ManPage page) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(page.roff());
        out.flush();
    }

    private void write(List<ManPage> pages, Path into) {
        try {
            Files.createDirectories(into);
            for (ManPage page : pages) {
                Files.writeString(into.resolve(page.name() + ".1"), page.roff());
            }
        } catch (IOException e) {
            throw new ParameterException(
                    spec.commandLine(), "--all: cannot write into " + into + ": " + e + "; give another folder", e);
        }
    }

    static List<ManPage> pages(CommandLine zklock) {
        List<ManPage> pages = new ArrayList<>();
        pages.add(new ManPage(zklock));
        ManPage.visible(zklock).forEach(each -> pages.add(new ManPage(each)));
        return pages;
    }

    private CommandLine named(CommandLine zklock) {
        if (name == null) {
            return zklock;
        }
        return ManPage.visible(zklock).stream()
                .filter(each -> each.getCommandName().equals(name))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "there is no command " + name + "; there are "
                                + ManPage.visible(zklock).stream()
                                        .map(CommandLine::getCommandName)
                                        .collect(Collectors.joining(", "))));
    }
}
