"""The command line, one file a verb: its options, one call of a room's function, and what is printed.

A module is imported only when its verb is asked for; each has a dataclass `Command`, whose docstring's first paragraph
is what `liteshogi --help` says of the verb: one sentence. Rooms know nothing of any of this.
"""
