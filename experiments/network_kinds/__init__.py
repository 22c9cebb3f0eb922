"""Operations on networks of any kind: detect the kind of a file, test, evaluate positions, export, play, time.

Callers name a file and need not know its kind. The libraries that a kind needs are imported only for files of that
kind.
"""
