"""Services of the operating system: files, locks, cores, memory, interrupts and standard streams."""
