// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

// Runs the consumer on the class path that its one dependency gave it, after a look at that class path.

def brought = new File(basedir, 'target/classpath').text.trim().split(File.pathSeparator)
def ours = 'recipes-core|recipes-mutex|slf4j-api|jspecify'
def zookeepers = 'zookeeper|zookeeper-jute|audience-annotations|netty-[a-z-]+|commons-io'
def guavas = 'guava|failureaccess|listenablefuture|error_prone_annotations|j2objc-annotations'
def allowed = "($ours|$zookeepers|$guavas)-\\d.*\\.jar"
def strangers = brought.collect { new File(it).name }.findAll { !(it ==~ allowed) }
assert strangers.isEmpty(): "recipes-mutex brings what it must not: $strangers"

def java = new File(System.getProperty('java.home'), 'bin/java').path
def classPath = ([new File(basedir, 'target/classes').path] + (brought as List)).join(File.pathSeparator)
def run = new ProcessBuilder(java, '-cp', classPath, 'com.example.Consumer').redirectErrorStream(true).start()
def printed = run.inputStream.text
assert run.waitFor() == 0 && printed.contains('consumer was told: not connected') && printed.contains('/locks/orders'): printed
return true
