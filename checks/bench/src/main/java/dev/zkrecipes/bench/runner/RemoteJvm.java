// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import com.google.common.base.Throwables;
import dev.zkrecipes.test.internal.ChildJvms;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Another JVM with the class path of this one, and an object in it that this one calls by RMI. It ends with this JVM,
 * however this one ends.
 */
public final class RemoteJvm<T extends Remote> implements AutoCloseable {
    private static final List<String> OPTIONS =
            List.of("-XX:+IgnoreUnrecognizedVMOptions", "--enable-native-access=ALL-UNNAMED");

    private final Process process;
    private final T object;

    /** Makes the object, in the other JVM. */
    public interface Maker<T extends Remote> extends Serializable {
        /** The object to call. */
        T make() throws Exception;
    }

    private RemoteJvm(Process process, T object) {
        this.process = process;
        this.object = object;
    }

    /** Starts a JVM and returns when the object has been made. */
    public static <T extends Remote> RemoteJvm<T> start(List<String> options, Maker<T> maker) {
        Process process = launch(options, RemoteJvm.class);
        try {
            ObjectOutputStream questions = new ObjectOutputStream(process.getOutputStream());
            questions.writeObject(maker);
            questions.flush();
            @SuppressWarnings("unchecked") // what the maker made
            T object = (T) new ObjectInputStream(process.getInputStream()).readObject();
            return new RemoteJvm<>(process, object);
        } catch (IOException | ClassNotFoundException e) {
            process.destroyForcibly();
            throw new IllegalStateException("the process has ended; see its messages above", e);
        }
    }

    /** Starts a main class that ends with its standard input. */
    public static Process launch(List<String> options, Class<?> main, String... arguments) {
        List<String> all = new ArrayList<>(OPTIONS);
        all.addAll(options);
        try {
            return new ProcessBuilder(ChildJvms.command(all, main, arguments))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + main.getName(), e);
        }
    }

    /**
     * Runs the other JVM.
     *
     * @param args none
     */
    public static void main(String[] args) {
        PrintStream answers = System.out;
        System.setOut(System.err); // ZooKeeper prints the name of each file that it removes
        try {
            ObjectInputStream questions = new ObjectInputStream(System.in);
            Remote made = ((Maker<?>) questions.readObject()).make();
            ObjectOutputStream out = new ObjectOutputStream(answers);
            out.writeObject(export(made));
            out.flush();
            while (System.in.read() >= 0) {
                // Nothing more is written to the standard input. It ends when the parent has ended.
            }
        } catch (Throwable e) {
            System.err.println(Throwables.getStackTraceAsString(e));
        }
        Runtime.getRuntime().halt(1);
    }

    /** Lets other JVMs of this machine call an object. They get what is returned, as an argument or a result. */
    public static Remote export(Remote object) throws RemoteException {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        return UnicastRemoteObject.exportObject(
                object, 0, null, port -> new ServerSocket(port, 50, InetAddress.getLoopbackAddress()));
    }

    /** The object in the other JVM. */
    public T object() {
        return object;
    }

    /** The other JVM. */
    public Process process() {
        return process;
    }

    /** Ends the process, and returns when it has ended. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
