// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.util.ClassUtils;

/**
 * The elections configured by properties. The application stands in them from its start on. When the application stops,
 * the elections end after the waits of annotated methods, the requests of the web server and the jobs of schedulers and
 * executors, any of which may have seen that it leads; and before the client. The next leader begins when the listeners
 * of this one have returned.
 */
final class ElectionBeans implements SmartLifecycle {
    private static final boolean HAS_INTEGRATION = ClassUtils.isPresent(
            "org.springframework.integration.leader.Context", ElectionBeans.class.getClassLoader());

    private final Map<String, Candidate> all = new TreeMap<>();
    private volatile boolean isRunning;

    ElectionBeans(ZooKeeperClient client, ZkRecipesProperties properties, ApplicationEventPublisher events) {
        properties.elections().forEach((name, settings) -> {
            String property = "elections." + name + ".path";
            String path = ZkRecipesProperties.require(property, settings.path(), "it names the path of the election");
            ZkRecipesProperties.check(property, path, given -> {
                LockOptions options = LockOptions.defaults().withName(name);
                all.put(name, new Candidate(name, new LeaderElection(client, given, options), events));
            });
        });
    }

    /**
     * Registers a bean for each election. The name of the bean is the name of the election followed by
     * {@code Election}. A method makes it, because Spring cannot write a supplier into code ahead of time.
     */
    record Registrar(Environment environment) implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            Binder.get(environment)
                    .bind("zkrecipes.elections", Bindable.mapOf(String.class, ZkRecipesProperties.Election.class))
                    .orElse(Map.of())
                    .keySet()
                    .forEach(name -> registry.registerBeanDefinition(
                            name + "Election",
                            BeanDefinitionBuilder.genericBeanDefinition(LeaderElection.class)
                                    .setFactoryMethodOnBean("election", ElectionBeans.class.getName())
                                    .addConstructorArgValue(name)
                                    .getBeanDefinition()));
        }
    }

    LeaderElection election(String name) {
        Candidate candidate = all.get(name);
        if (candidate == null) {
            throw new InvalidConfigurationPropertyValueException(
                    "zkrecipes.elections." + name + ".path",
                    null,
                    "the context was made ahead of time with this election, so its path must be set at the start, too");
        }
        return candidate.election;
    }

    /** An election as shown by the endpoint and by health. */
    record Shown(
            String name,
            boolean leads,
            @Nullable Long term,
            @Nullable String withdrawn) {}

    List<Shown> shown() {
        return all.values().stream().map(Candidate::shown).toList();
    }

    @Override
    public void start() {
        all.values().forEach(candidate -> candidate.election.join());
        isRunning = true;
    }

    /** Leaves all elections at once, then waits for the end of each. */
    @Override
    public void stop() {
        for (Candidate candidate : all.values()) {
            var unused = candidate.election.leave();
        }
        all.values().forEach(candidate -> candidate.election.close());
        isRunning = false;
    }

    @Override
    public boolean isRunning() {
        return isRunning;
    }

    @Override
    public int getPhase() {
        return ExecutorConfigurationSupport.DEFAULT_PHASE - 1; // lower phases stop later
    }

    /** Publishes the events of an election to the application. */
    private static final class Candidate implements LeaderListener {
        private final String name;
        private final LeaderElection election;
        private final ApplicationEventPublisher events;

        Candidate(String name, LeaderElection election, ApplicationEventPublisher events) {
            this.name = name;
            this.election = election;
            this.events = events;
            election.addListener(this);
            if (HAS_INTEGRATION) {
                election.addListener(new Role(name, election, events));
            }
        }

        Shown shown() {
            Long term = election.term().map(Term::number).orElse(null);
            String withdrawn =
                    election.withdrawal().map(LockException::getMessage).orElse(null);
            return new Shown(name, election.isLeader(), term, withdrawn);
        }

        @Override
        public void termBegan(Term term) {
            try {
                events.publishEvent(new ElectionEvent.TermBegan(name, term));
            } finally { // last, so that an existing request is not published before the beginning of the term
                term.onRevocationRequested(
                        request -> events.publishEvent(new ElectionEvent.GiveBackRequested(name, term, request)));
            }
        }

        @Override
        public void termEnded(Term term) {
            events.publishEvent(new ElectionEvent.TermEnded(name, term));
        }

        @Override
        public void withdrawn(LockException why) {
            events.publishEvent(new ElectionEvent.Withdrawn(name, why));
        }
    }

    /** Lets Spring Integration start and stop the beans that have the role. Not loaded without Spring Integration. */
    private record Role(String name, LeaderElection election, ApplicationEventPublisher events)
            implements LeaderListener, Context {
        @Override
        public boolean isLeader() {
            return election.isLeader();
        }

        @Override
        public void yield() {
            var unused = election.resign();
        }

        @Override
        public String getRole() {
            return name;
        }

        @Override
        public void termBegan(Term term) {
            events.publishEvent(new OnGrantedEvent(election, this, name));
        }

        @Override
        public void termEnded(Term term) {
            events.publishEvent(new OnRevokedEvent(election, this, name));
        }
    }
}
