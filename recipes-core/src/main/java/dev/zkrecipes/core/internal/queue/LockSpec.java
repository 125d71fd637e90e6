// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import com.google.common.base.Preconditions;
import com.google.common.base.Strings;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.wire.Acls;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * One lock of an attempt: a path, the driver that rules it, and the name and ACL of the nodes that the attempt
 * creates there.
 *
 * <p>Two specs are equal if their paths, drivers and node names are equal. The driver is the rule of the lock, so a
 * hold under one driver can be re-entered under an equal one. The options are no part of the rule and do not matter
 * here.
 *
 * <p>The driver is user code that may throw anything. All calls of it go through this class, which turns its
 * exceptions into {@link LockRefusedException}s that name the driver. Immutable; any thread may use it.
 */
public final class LockSpec {
    private static final String NOTHING = "the driver returned null";
    private static final Pattern NODE_NAME = Pattern.compile("[A-Za-z0-9._~]{1,120}[-_]");

    private final String path;
    private final LockDriver driver;
    private final LockOptions options;
    private final List<ACL> defaultAcl; // the client's default
    private final Optional<List<ACL>> ownAcl; // from the options; takes precedence over the default
    private final long aclSize; // computed once, because each acquire needs it
    private final String nodeName; // read from the driver only once, in case the driver changes its answer
    private final String kind; // the part of the node name that has no payload
    private final @Nullable String inFront; // see withNodesInFront; null if no node can appear in front

    /**
     * Stands in for the driver of another library's lock, so that such a lock has a spec like any other. The rule of
     * such a lock is the lock object itself: equal foreign locks share their holds. The driver is never asked, because
     * a foreign lock never queues in this library.
     */
    private record ForeignRule(ForeignLock lock, String nodeName) implements FifoDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, nodeName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.grantedIfFirst(predecessors);
        }
    }

    /**
     * Returns the spec of another library's lock. {@code nodeName} stands for the kind of its nodes; this library
     * creates none.
     */
    public static LockSpec foreign(ForeignLock lock, String nodeName, LockOptions options) {
        return new LockSpec(List.of(), lock.path(), new ForeignRule(lock, nodeName), options);
    }

    /**
     * Checks the driver: throws an IllegalArgumentException if its node name is malformed, or if it does not
     * recognise a node of that name.
     */
    public LockSpec(List<ACL> defaultAcl, String path, LockDriver driver, LockOptions options) {
        this(defaultAcl, path, driver, options, null);
    }

    private LockSpec(
            List<ACL> defaultAcl, String path, LockDriver driver, LockOptions options, @Nullable String inFront) {
        this.inFront = inFront;
        this.path = path;
        this.driver = driver;
        this.options = options;
        this.defaultAcl = defaultAcl;
        this.ownAcl = options.acl();
        this.aclSize = Acls.sizeOf(acl());
        this.nodeName = driver.nodeName();
        if (!NODE_NAME.matcher(nodeName).matches()) {
            throw new IllegalArgumentException("node name \"" + Printable.of(nodeName) + "\" of "
                    + driver.getClass().getName()
                    + " must be letters, digits, '.', '_' or '~' and end in '-' or '_'");
        }
        Optional<LockNode> own = driver.parse(lastName());
        Preconditions.checkArgument(
                own.isPresent(),
                "%s does not recognise its own node name %s",
                driver.getClass().getName(),
                lastName());
        this.kind = own.get().kind();
    }

    public String path() {
        return path;
    }

    public LockOptions options() {
        return options;
    }

    /** Whether the lock has an ACL other than the client's default. */
    public boolean hasOwnAcl() {
        return ownAcl.isPresent();
    }

    /** Returns the ACL with which the path and the nodes of this lock are created. */
    public List<ACL> acl() {
        return ownAcl.orElse(defaultAcl);
    }

    /** Returns the number of bytes that the entries of the ACL take in a request. */
    public long aclSize() {
        return aclSize;
    }

    public LockDriver driver() {
        return driver;
    }

    public String nodeName() {
        return nodeName;
    }

    public String kind() {
        return kind;
    }

    /** Whether the driver promises that no request is granted before the requests in front of it. */
    public boolean isFifo() {
        return driver instanceof FifoDriver;
    }

    /**
     * Returns a copy for a lock with two modes, where nodes with {@code otherNodeName} may appear in front of nodes
     * that are in the queue already. See {@link #nodeInFrontOf}.
     */
    public LockSpec withNodesInFront(String otherNodeName) {
        return new LockSpec(defaultAcl, path, driver, options, otherNodeName);
    }

    /**
     * Returns a node as it may appear directly in front of {@code self} after the queue was listed; empty if no node
     * can appear there. When a holder of the exclusive mode also takes the shared mode, its second node has the same
     * place as its first.
     */
    public Optional<LockNode> nodeInFrontOf(LockNode self) {
        return inFront == null || self.number() <= 0 ? Optional.empty() : parse(name(inFront, self.number() - 1));
    }

    /**
     * Returns the name of the rule for messages: the class of the driver, or the {@code toString()} of a foreign lock.
     */
    public String rule() {
        String name = driver instanceof ForeignRule foreign
                ? "\"" + Printable.of(driving(foreign.lock()::toString)) + "\""
                : driver.getClass().getName();
        return name + " (nodes \"" + nodeName + "\")";
    }

    /**
     * Returns a node of this lock that is behind every node that can exist. Asking the driver about it shows what a
     * request that queued now would get.
     */
    public LockNode hypotheticalLast() {
        return parseOwn(lastName());
    }

    /**
     * Parses a node that this lock created. Throws a {@link LockRefusedException} if the driver does not recognise
     * it.
     */
    public LockNode parseOwn(String name) {
        Optional<LockNode> node = parse(name);
        if (node.isEmpty()) {
            throw new LockRefusedException(fault("does not recognise its own node name " + name));
        }
        return node.get();
    }

    /**
     * Asks the driver to parse the name of a child; empty if the child is of no kind that this lock knows. A driver
     * that returns a node with another name than the child's is refused: the engine would watch or delete the wrong
     * node.
     */
    public Optional<LockNode> parse(String name) {
        Optional<LockNode> node;
        try {
            node = Objects.requireNonNull(driver.parse(name), NOTHING);
        } catch (Throwable t) {
            throw refusalBy(t);
        }
        if (node.isPresent() && !node.get().name().equals(name)) {
            String made = Printable.of(node.get().name());
            throw new LockRefusedException(fault("made the node " + made + " of the name " + Printable.of(name)));
        }
        return node;
    }

    /** Whether part of the driver's rule is kept in the data of the path. */
    public boolean hasSharedRule() {
        return driver instanceof SharedRuleDriver;
    }

    /** Returns the data with which to create the path; empty if the path is created as a container. */
    public Optional<byte[]> initialRule() {
        return driver instanceof SharedRuleDriver shared ? Optional.of(driving(shared::initialRule)) : Optional.empty();
    }

    /**
     * Returns the driver that decides while the path holds the data {@code rule}. Throws a {@link LockRefusedException}
     * if the driver does not accept the data. Returns the driver as it is if the path does not exist, or if the rule is
     * not kept in its data.
     */
    public LockDriver driverUnder(byte @Nullable [] rule) {
        return rule != null && driver instanceof SharedRuleDriver shared ? driving(() -> shared.under(rule)) : driver;
    }

    /**
     * Returns a driver that grants whatever earlier rules of the path granted; empty if the present rule grants all of
     * it.
     */
    public Optional<LockDriver> driverUnderEarlier(byte @Nullable [] rule) {
        return rule != null && driver instanceof SharedRuleDriver shared
                ? driving(() -> shared.underEarlier(rule))
                : Optional.empty();
    }

    /**
     * Whether the driver refuses this request by its own rule, even with nobody in front. The rule of the path may
     * have changed, and may accept the request.
     */
    public boolean isHopeless() {
        return hasSharedRule() && decide(driver, List.of(), hypotheticalLast()) instanceof Decision.Never;
    }

    /**
     * Asks {@code ruling}, which is the driver under the rule of the path, for its decision. Refuses a decision to wait
     * for a node that is not in front of {@code self}: the request would wait for it in vain.
     */
    public Decision decide(LockDriver ruling, List<LockNode> predecessors, LockNode self) {
        Decision decision;
        try {
            decision = Objects.requireNonNull(ruling.decide(predecessors, self), NOTHING);
        } catch (Throwable t) {
            throw refusalBy(t);
        }
        if (decision instanceof Decision.WaitFor wait && !containsAll(predecessors, wait.nodes())) {
            throw new LockRefusedException(fault("waits for nodes that do not stand in front of " + self.name()));
        }
        return decision;
    }

    /**
     * Whether all {@code nodes} are among the predecessors. Most drivers wait for the nearest predecessors, which one
     * comparison finds; for others, each node takes a binary search.
     */
    private static boolean containsAll(List<LockNode> predecessors, List<LockNode> nodes) {
        if (endsWith(predecessors, nodes)) {
            return true;
        }
        for (LockNode node : nodes) {
            if (Collections.binarySearch(predecessors, node) < 0) {
                return false;
            }
        }
        return true;
    }

    static boolean endsWith(List<LockNode> all, List<LockNode> last) {
        int start = all.size() - last.size();
        return start >= 0 && all.subList(start, all.size()).equals(last);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other == this || (other instanceof LockSpec that && nodeName.equals(that.nodeName) && hasRuleOf(that));
    }

    /**
     * Whether the other lock has the same path and an equal driver. The two may ask for different things, such as
     * numbers of permits.
     */
    boolean hasRuleOf(LockSpec other) {
        return path.equals(other.path) && driving(() -> driver.equals(other.driver));
    }

    /** Leaves the driver out: an application's driver may define {@code equals} without {@code hashCode}. */
    @Override
    public int hashCode() {
        return 31 * path.hashCode() + nodeName.hashCode();
    }

    @Override
    public String toString() {
        return path + " by " + rule();
    }

    private String lastName() {
        return name(nodeName, LockNode.LAST_NUMBER);
    }

    /** Returns a node name that no client ever creates: its id is all zeros. */
    private static String name(String nodeName, long number) {
        String digits = Strings.padStart(String.valueOf(number), LockNode.SEQUENCE_DIGITS, '0');
        return String.join("", "0".repeat(NodeId.LENGTH), "-", nodeName, digits);
    }

    /** Calls the driver, and turns whatever it throws into a refusal. */
    private <T> T driving(Supplier<T> call) {
        try {
            return Objects.requireNonNull(call.get(), NOTHING);
        } catch (Throwable t) {
            throw refusalBy(t);
        }
    }

    private LockRefusedException refusalBy(Throwable failure) {
        return failure instanceof LockRefusedException refusal
                ? refusal // it already says what is wrong
                : new LockRefusedException(fault("failed: " + Printable.of(String.valueOf(failure))), failure);
    }

    private String fault(String what) {
        return "the driver " + driver.getClass().getName() + " of the lock " + path + " " + what + "; fix the driver";
    }
}
