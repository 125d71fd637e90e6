// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import com.google.common.base.Preconditions;
import com.google.common.base.Strings;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
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
 * The lock of an attempt: one path with one driver on one client, and the name of the nodes that it makes. Two of these
 * are equal if all of that is: the driver is the rule of the lock, and a hold under a driver can be re-entered under an
 * equal one. The options do not matter for that.
 *
 * <p>The driver is user code that may throw anything. All calls of it go through here, and its exceptions become {@link
 * LockRefusedException}s.
 */
public final class LockSpec {
    private static final String NOTHING = "the driver returned null";
    private static final Pattern NODE_NAME = Pattern.compile("[A-Za-z0-9._~]{1,120}[-_]");

    private final String path;
    private final LockDriver driver;
    private final LockOptions options;
    private final List<ACL> defaultAcl;
    private final Optional<List<ACL>> ownAcl;
    private final String nodeName;
    private final String kind;
    private final @Nullable String inFront;

    /** The rule of a foreign lock is the lock itself: equal ones share their holds. It never queues. */
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

    /** A foreign lock, as if it made nodes of that name. */
    public static LockSpec foreign(ForeignLock lock, String nodeName, LockOptions options) {
        return new LockSpec(List.of(), lock.path(), new ForeignRule(lock, nodeName), options);
    }

    /** Refuses a driver that does not recognise its own nodes. */
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

    public boolean hasOwnAcl() {
        return ownAcl.isPresent();
    }

    /** What its path and its nodes are made with. */
    public List<ACL> acl() {
        return ownAcl.orElse(defaultAcl);
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

    /** Whether no request is granted before all in front of it. */
    public boolean isFifo() {
        return driver instanceof FifoDriver;
    }

    /** This lock where nodes of another kind may appear in front of others, see {@link #nodeInFrontOf}. */
    public LockSpec withNodesInFront(String otherNodeName) {
        return new LockSpec(defaultAcl, path, driver, options, otherNodeName);
    }

    /**
     * A node as it may appear in front of {@code self} after the queue was listed: where a holder of the exclusive mode
     * takes the shared one, its second node stands at the place of its first. Empty if no node can appear there.
     */
    public Optional<LockNode> nodeInFrontOf(LockNode self) {
        return inFront == null || self.number() <= 0 ? Optional.empty() : parse(name(inFront, self.number() - 1));
    }

    /** What to call the rule in messages: the class of the driver, or what a foreign lock says of itself. */
    public String rule() {
        String name = driver instanceof ForeignRule foreign
                ? "\"" + Printable.of(driving(foreign.lock()::toString)) + "\""
                : driver.getClass().getName();
        return name + " (nodes \"" + nodeName + "\")";
    }

    /** A node of ours behind everybody, to ask what would come of queueing. */
    public LockNode hypotheticalLast() {
        return parseOwn(lastName());
    }

    public LockNode parseOwn(String name) {
        Optional<LockNode> node = parse(name);
        if (node.isEmpty()) {
            throw new LockRefusedException(fault("does not recognise its own node name " + name));
        }
        return node.get();
    }

    /** The node of that name; empty if it is of no kind that the lock knows. */
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

    public boolean hasSharedRule() {
        return driver instanceof SharedRuleDriver;
    }

    /** What the path is made with; empty if it is made as a container. */
    public Optional<byte[]> initialRule() {
        return driver instanceof SharedRuleDriver shared ? Optional.of(driving(shared::initialRule)) : Optional.empty();
    }

    /**
     * The driver under the rule that the path holds, or an error if it does not accept that; under its own, if there is
     * no path or no such rule.
     */
    public LockDriver driverUnder(byte @Nullable [] rule) {
        return rule != null && driver instanceof SharedRuleDriver shared ? driving(() -> shared.under(rule)) : driver;
    }

    /** A driver that grants all that earlier rules of the path have granted; empty if the present one does. */
    public Optional<LockDriver> driverUnderEarlier(byte @Nullable [] rule) {
        return rule != null && driver instanceof SharedRuleDriver shared
                ? driving(() -> shared.underEarlier(rule))
                : Optional.empty();
    }

    /** Whether the driver refuses the request under its own rule, which may have changed, even with nobody in front. */
    public boolean isHopeless() {
        return hasSharedRule() && decide(driver, List.of(), hypotheticalLast()) instanceof Decision.Never;
    }

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

    /** Whether all nodes are in front, by one search in the order of the queue; most drivers wait for the nearest. */
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

    /** Whether it is the same path by an equal driver. What the two ask for may differ. */
    boolean hasRuleOf(LockSpec other) {
        return path.equals(other.path) && driving(() -> driver.equals(other.driver));
    }

    /** A hash without the driver, which may have an {@code equals} but no {@code hashCode}. */
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

    /** The name of a node that nobody ever makes. */
    private static String name(String nodeName, long number) {
        String digits = Strings.padStart(String.valueOf(number), LockNode.SEQUENCE_DIGITS, '0');
        return String.join("", "0".repeat(NodeId.LENGTH), "-", nodeName, digits);
    }

    private <T> T driving(Supplier<T> call) {
        try {
            return Objects.requireNonNull(call.get(), NOTHING);
        } catch (Throwable t) {
            throw refusalBy(t);
        }
    }

    private LockRefusedException refusalBy(Throwable failure) {
        return failure instanceof LockRefusedException refusal
                ? refusal // it says what is wrong
                : new LockRefusedException(fault("failed: " + Printable.of(String.valueOf(failure))), failure);
    }

    private String fault(String what) {
        return "the driver " + driver.getClass().getName() + " of the lock " + path + " " + what + "; fix the driver";
    }
}
