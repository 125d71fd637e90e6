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
 * A child JVM with the class path of this JVM, and an object in it that this JVM calls by RMI. The child JVM ends when
 * this JVM has ended, even if this JVM was killed.
 */
public final class RemoteJvm<T extends Remote> implements AutoCloseable {
    private static final List<String> OPTIONS =
            List.of("-XX:+IgnoreUnrecognizedVMOptions", "--enable-native-access=ALL-UNNAMED");

    private final Process process;
    private final T object;

    /** Creates the object. The maker is serialized and sent to the child JVM, which runs it. */
    public interface Maker<T extends Remote> extends Serializable {
        /** Returns a new object, which the parent is to call. */
        T make() throws Exception;
    }

    private RemoteJvm(Process process, T object) {
        this.process = process;
        this.object = object;
    }

    /** Starts a child JVM, and returns when the maker has created the object there. */
    public static <T extends Remote> RemoteJvm<T> start(List<String> options, Maker<T> maker) {
        Process process = launch(options, RemoteJvm.class);
        try {
            ObjectOutputStream questions = new ObjectOutputStream(process.getOutputStream());
            questions.writeObject(maker);
            questions.flush();
            @SuppressWarnings("unchecked") // a stub of the object that the maker created
            T object = (T) new ObjectInputStream(process.getInputStream()).readObject();
            return new RemoteJvm<>(process, object);
        } catch (IOException | ClassNotFoundException e) {
            process.destroyForcibly();
            throw new IllegalStateException("the process has ended; see its messages above", e);
        }
    }

    /**
     * Starts a JVM with a main class, and returns its process. The class must end when its standard input ends, which
     * happens when this JVM has ended.
     */
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
     * The child JVM: creates the object, sends its stub to the parent, and ends when the parent has ended.
     *
     * @param args none
     */
    public static void main(String[] args) {
        PrintStream answers = System.out;
        // Standard output is for the stub only, but ZooKeeper prints there the name of each file that it removes.
        System.setOut(System.err);
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

    /**
     * Lets other JVMs on this machine call an object by RMI. Returns the stub to send to them, as an argument or a
     * result of a remote call.
     */
    public static Remote export(Remote object) throws RemoteException {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        return UnicastRemoteObject.exportObject(
                object, 0, null, port -> new ServerSocket(port, 50, InetAddress.getLoopbackAddress()));
    }

    /** Returns the stub of the object in the child JVM. */
    public T object() {
        return object;
    }

    /** Returns the process of the child JVM. */
    public Process process() {
        return process;
    }

    /** Kills the child JVM, and returns when it has ended. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
