// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * A test kit for code that uses ZooKeeper: real servers, faults on the wire, and test suites for locks.
 *
 * <p>Where to look:
 *
 * <ul>
 *   <li>Servers: {@link dev.zkrecipes.test.EmbeddedZooKeeper} is a real standalone server in this JVM that can be
 *       stopped, restarted, looked into and aged. {@link dev.zkrecipes.test.WithZooKeeper} hands one to JUnit tests.
 *   <li>Ensembles: {@link dev.zkrecipes.test.ZooKeeperEnsemble} is three servers in separate JVMs. An {@link
 *       dev.zkrecipes.test.EnsembleServer} can be killed and cut off from its clients or its leader.
 *   <li>Clients: {@link dev.zkrecipes.test.TestClients} makes those of a test, connected, and closes them together.
 *   <li>Counting: {@link dev.zkrecipes.test.RequestCounts} by {@link dev.zkrecipes.test.RequestType} is what a server
 *       received or a proxy forwarded.
 *   <li>Faults: {@link dev.zkrecipes.test.FaultProxy} stands between a client and a server and delays, holds, loses or
 *       cuts what passes. {@link dev.zkrecipes.test.Fault} and {@link dev.zkrecipes.test.Held} tell when it happened.
 *   <li>Suites: {@link dev.zkrecipes.test.contract} has the tests that every lock has to pass.
 * </ul>
 *
 * <p>Everything listens on and connects to the loopback address only. All threads that the kit starts are daemons.
 */
@NullMarked
package dev.zkrecipes.test;

import org.jspecify.annotations.NullMarked;
