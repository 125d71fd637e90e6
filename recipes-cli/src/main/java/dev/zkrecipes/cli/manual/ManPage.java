// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.manual;

import com.google.common.base.CharMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The page of one command in the manual, made from what {@code --help} shows. */
final class ManPage {
    private static final CharMatcher BLANKS = CharMatcher.whitespace();
    /** Between two forms of a command in a synopsis; other line breaks are within one. */
    private static final Pattern NEXT_FORM = Pattern.compile("\\s+(?=zklock )");

    private final CommandLine command;
    private final CommandSpec spec;
    private final UsageMessageSpec usage;

    ManPage(CommandLine command) {
        this.command = command;
        this.spec = command.getCommandSpec();
        this.usage = spec.usageMessage();
    }

    /** The page's name: {@code zklock}, {@code zklock-ls}. */
    String name() {
        return name(command);
    }

    private static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName("-");
    }

    /** The sub-commands that users see. */
    static List<CommandLine> visible(CommandLine command) {
        return command.getSubcommands().values().stream()
                .filter(each -> !each.getCommandSpec().usageMessage().hidden())
                .distinct()
                .toList();
    }

    String roff() {
        Roff page = new Roff(name().toUpperCase(Locale.ROOT), version(), "zklock");
        page.section("NAME");
        page.text(name() + " - " + summary(command));
        page.section("SYNOPSIS");
        page.lines(NEXT_FORM
                .splitAsStream(command.getHelp().synopsis(0))
                .map(ManPage::plain)
                .toList());
        page.section("DESCRIPTION");
        paragraphs(usage.description()).forEach(page::paragraph);
        addArguments(page);
        addCommands(page);
        addPairs(page, "EXIT STATUS", usage.exitCodeList());
        if (usage.footer().length > 0) {
            page.section(title(usage.footerHeading(), "NOTES"));
            page.verbatim(Arrays.stream(usage.footer()).map(ManPage::formatted).toList());
        }
        addSeeAlso(page);
        return page.toString();
    }

    private void addArguments(Roff page) {
        List<ArgSpec> arguments = new ArrayList<>();
        spec.positionalParameters().stream().filter(each -> !each.hidden()).forEach(arguments::add);
        spec.options().stream().filter(each -> !each.hidden()).forEach(arguments::add);
        if (arguments.isEmpty()) {
            return;
        }
        page.section("OPTIONS");
        arguments.forEach(each -> page.item(term(each), paragraphs(each.description())));
    }

    private static String term(ArgSpec argument) {
        if (argument instanceof PositionalParamSpec positional) {
            return positional.paramLabel();
        }
        OptionSpec option = (OptionSpec) argument;
        String names = String.join(", ", option.names());
        return option.arity().max() == 0 ? names : names + " " + option.paramLabel();
    }

    private void addCommands(Roff page) {
        List<CommandLine> commands = visible(command);
        if (commands.isEmpty()) {
            return;
        }
        page.section("COMMANDS");
        commands.forEach(each -> page.item(name(each) + "(1)", List.of(summary(each))));
    }

    private static void addPairs(Roff page, String section, Map<String, String> pairs) {
        if (!pairs.isEmpty()) {
            page.section(section);
            pairs.forEach((key, value) -> page.item(key.isBlank() ? "N" : key.strip(), List.of(formatted(value))));
        }
    }

    private void addSeeAlso(Roff page) {
        CommandLine parent = command.getParent();
        List<String> others = Stream.concat(
                        Stream.ofNullable(parent),
                        Stream.ofNullable(parent)
                                .flatMap(family -> visible(family).stream())
                                .filter(each -> each != command))
                .map(each -> name(each) + "(1)")
                .toList();
        if (!others.isEmpty()) {
            page.section("SEE ALSO");
            page.text(String.join(", ", others));
        }
    }

    private String version() {
        String[] lines = spec.root().version();
        return lines.length == 0 ? "zklock" : lines[0];
    }

    /** The header, or the first sentence of the description. */
    private static String summary(CommandLine command) {
        UsageMessageSpec usage = command.getCommandSpec().usageMessage();
        String text = Stream.concat(paragraphs(usage.header()).stream(), paragraphs(usage.description()).stream())
                .findFirst()
                .orElse("");
        int end = text.indexOf(". ");
        String sentence = end < 0 ? text : text.substring(0, end);
        return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
    }

    private static List<String> paragraphs(String[] texts) {
        return Arrays.stream(texts)
                .map(ManPage::plain)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.toList());
    }

    private static String title(String heading, String otherwise) {
        String title = plain(heading);
        return title.isEmpty()
                ? otherwise
                : CharMatcher.is(':').trimTrailingFrom(title).toUpperCase(Locale.ROOT);
    }

    /** As running text. */
    private static String plain(String text) {
        return BLANKS.trimAndCollapseFrom(formatted(text), ' ');
    }

    /** Without picocli's mark-up. */
    private static String formatted(String text) {
        return Ansi.OFF.string(text).replace("%n", "\n").replace("%%", "%");
    }
}
