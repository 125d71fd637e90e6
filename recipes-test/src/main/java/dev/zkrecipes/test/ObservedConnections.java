// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.LongAdder;
import org.apache.jute.Record;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.server.NIOServerCnxn;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn;
import org.jspecify.annotations.Nullable;

/** ZooKeeper's connections, which also count the watch events sent and stay out of JMX. */
final class ObservedConnections extends NIOServerCnxnFactory {
    private final LongAdder events;

    ObservedConnections(LongAdder events) {
        this.events = events;
    }

    @Override
    protected NIOServerCnxn createConnection(SocketChannel channel, SelectionKey key, SelectorThread selector)
            throws IOException {
        return new Connection(channel, key, selector);
    }

    // There is no limit, and no need for ZooKeeper's warning about that.
    @Override
    protected void initMaxCnxns() {}

    @Override
    public void registerConnection(ServerCnxn connection) {}

    @Override
    public void unregisterConnection(ServerCnxn connection) {}

    private final class Connection extends NIOServerCnxn {
        Connection(SocketChannel channel, SelectionKey key, SelectorThread selector) throws IOException {
            super(zkServer, channel, key, ObservedConnections.this, selector);
        }

        // Here and not where the event is made: an event that the access list hides is never sent.
        @Override
        public int sendResponse(
                ReplyHeader header,
                @Nullable Record body,
                @Nullable String tag,
                @Nullable String cacheKey,
                @Nullable Stat stat,
                int opCode) {
            if (header.getXid() == ClientCnxn.NOTIFICATION_XID) {
                events.increment();
            }
            return super.sendResponse(header, body, tag, cacheKey, stat, opCode);
        }
    }
}
