"""Files, locks, cores, memory and standard streams, as the operating system gives them to a process."""
