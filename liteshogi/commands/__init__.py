"""The command line, one file per verb: its options, one call of another package's function, and the printed output.

A module is imported only when its verb is used. Each has a dataclass `Command`; the first sentence of its docstring is
the summary in the help. The other packages do not know the command line.
"""
