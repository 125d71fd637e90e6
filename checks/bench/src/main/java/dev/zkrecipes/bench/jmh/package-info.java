// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * JMH benchmarks of what needs no network. JMH makes their objects and fills their fields, so this package makes no
 * promise about null; and its classes are public and open, for JMH extends them.
 */
package dev.zkrecipes.bench.jmh;
