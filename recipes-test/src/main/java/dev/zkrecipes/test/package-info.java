// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * A test kit for code that uses ZooKeeper: real servers, faults on the network, and test suites for locks.
 *
 * <p>Where to look:
 *
 * <ul>
 *   <li>Servers: {@link dev.zkrecipes.test.EmbeddedZooKeeper} is a real standalone server in this JVM. Tests can stop,
 *       restart, inspect and age it. {@link dev.zkrecipes.test.WithZooKeeper} passes one to JUnit tests.
 *   <li>Ensembles: {@link dev.zkrecipes.test.ZooKeeperEnsemble} is three servers in separate JVMs. An
 *       {@link dev.zkrecipes.test.EnsembleServer} can be killed, and cut off from its clients or its leader.
 *   <li>Clients: {@link dev.zkrecipes.test.TestClients} creates connected clients for a test, and closes them together.
 *   <li>Counts: {@link dev.zkrecipes.test.RequestCounts} tells how many requests of each
 *       {@link dev.zkrecipes.test.RequestType} a server received or a proxy forwarded.
 *   <li>Faults: {@link dev.zkrecipes.test.FaultProxy} is put between a client and a server. It delays, holds or loses
 *       packets, and cuts connections. {@link dev.zkrecipes.test.Fault} and {@link dev.zkrecipes.test.Held} show when
 *       that has happened.
 *   <li>Suites: {@link dev.zkrecipes.test.contract} contains the tests that every lock has to pass.
 * </ul>
 *
 * <p>Everything listens on and connects to the loopback address only. All threads that the kit starts are daemons.
 */
@NullMarked
package dev.zkrecipes.test;

import org.jspecify.annotations.NullMarked;
