"""The verbs of the command line, one file each: options, one call, and what is printed."""
