"""The books of a `BookFile`: numbered books that take priority, then the file itself.

`user_book1.db` may have `user_book1-000.db`, `user_book1-001.db` and so on beside it, up to the first missing number.
They are asked in that order before `user_book1.db`. Each may be a `.db` or a `.ybb` file; if both exist, the one with
the extension of `BookFile` is used. If a `.db` named by `BookFile` is missing, the `.ybb` of the same name is used.
"""

from __future__ import annotations

from pathlib import Path

from search.book.binary_book import MAGIC, BinaryBook
from search.book.book_move import Book, Say
from search.book.text_book import TextBook
from search.system.files import message_of

_EXTENSIONS = (".db", ".ybb")


def open_books(path: Path, say: Say) -> list[Book]:
    """Open the books of a `BookFile`, in their order of priority.

    A book that cannot be opened is reported through `say` and left out.
    """
    books = []
    for one in book_paths(path, say):
        try:
            books.append(open_book(one, say))
        except (OSError, ValueError) as error:
            say(f"BookFile: {message_of(error)}; continuing without this book")
    return books


def open_book(path: Path, say: Say) -> Book:
    """Open a book of either format. Raises OSError, or ValueError in one line that names the file and the fault."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such book")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: not a file")
    with open(path, "rb") as file:
        is_binary = file.read(12) == MAGIC[:12] or path.suffix.lower() == ".ybb"
    return BinaryBook(path, say) if is_binary else TextBook(path, say)


def book_paths(path: Path, say: Say) -> list[Path]:
    """The files of a `BookFile` in their order of priority; the last one need not exist."""
    found: list[Path] = []
    named = path.suffix.lower()
    if named in _EXTENSIONS:
        extensions = (path.suffix, *(extension for extension in _EXTENSIONS if extension != named))
        while True:
            stem = f"{path.stem}-{len(found):03d}"
            there = [one for one in (path.with_name(stem + extension) for extension in extensions) if one.exists()]
            if not there:
                break
            if len(there) > 1:
                say(f"BookFile: {there[0]} is used, {there[1]} is ignored")
            found.append(there[0])
    other = path.with_suffix(".ybb")
    return [*found, other if named == ".db" and not path.exists() and other.exists() else path]
