// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the name of a recipe, and names all of them if it is none. */
final class RecipeName implements ITypeConverter<DemoRecipe> {
    @Override
    public DemoRecipe convert(String value) {
        return Arrays.stream(DemoRecipe.values())
                .filter(recipe -> recipe.toString().equals(value.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + value + "' is not one of "
                        + Arrays.stream(DemoRecipe.values())
                                .map(DemoRecipe::toString)
                                .collect(Collectors.joining(", "))));
    }
}
