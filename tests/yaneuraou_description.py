"""YaneuraOu's evaluation from the bytes of a file, in Python integers, by the published description alone.

It does not use `search.evaluation`. It is slow, so only for a few positions of small networks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HAND_BASE = {"P": (1, 20), "L": (39, 44), "N": (49, 54), "S": (59, 64), "G": (69, 74), "B": (79, 82), "R": (85, 88)}
BOARD_BASE = dict(zip(("P", "L", "N", "S", "G", "B", "+B", "R", "+R"), range(90, 1548, 162), strict=True))
INPUTS = {
    "halfkp": 125_388,
    "kp": 1710,
    "ka2": 1791,
    "halfkpvm": 69_660,
    "halfka1": 138_510,
    "halfkahm1": 76_950,
    "halfka2": 131_949,
    "halfkahm2": 73_305,
}
HAND_CLASSES = {"hand4": 2, "hand16": 4, "hand64": 8, "hand64z": 8, "hand256": 16, "hand1024": 32}
KING_ZONES = {"k3k3": 3, "k9k9": 9, "k9k9z": 9, "k13k13z": 13, "k21k21": 21, "k29k29": 29}


@dataclass
class Side:
    """A side's view of a position: piece numbers except of kings, the squares of both kings, and the side's hand."""

    pieces: list[int]
    own_king: int
    enemy_king: int
    hand: dict[str, int]


def sides(sfen: str) -> list[Side]:
    """Return the mover's view of a position, then the other side's."""
    board, turn, hands, _ = sfen.split()
    pieces, promoted = [], ""
    for rank, row in enumerate(board.split("/")):
        file = 8
        for letter in row:
            if letter.isdigit():
                file -= int(letter)
            elif letter == "+":
                promoted = "+"
            else:
                pieces.append((promoted + letter.upper(), letter.isupper(), file * 9 + rank))
                promoted, file = "", file - 1
    held, count = [], ""
    for letter in hands.replace("-", ""):
        if letter.isdigit():
            count += letter
        else:
            held.append((letter.upper(), letter.isupper(), int(count or 1)))
            count = ""
    found = []
    for black in (turn == "b", turn != "b"):
        seen: list[int] = []
        kings = {}
        for name, piece_black, square in pieces:
            own, place = piece_black == black, square if black else 80 - square
            if name == "K":
                kings[own] = place
            else:
                seen.append(BOARD_BASE.get(name, BOARD_BASE["G"]) + (0 if own else 81) + place)
        for name, piece_black, number in held:
            base = HAND_BASE[name][0 if piece_black == black else 1]
            seen += range(base, base + number)
        seen += [0] * (38 - len(seen))
        own_hand = {name: number for name, piece_black, number in held if piece_black == black}
        found.append(Side(seen, kings[True], kings[False], own_hand))
    return found


def _mirror(square: int) -> int:
    return (8 - square // 9) * 9 + square % 9


def active_features(side: Side, features: str) -> list[int]:
    """Return the indices of a side's active features."""
    with_kings = [*side.pieces, 1548 + side.own_king, 1629 + side.enemy_king]
    if features == "kp":
        return with_kings
    folded = [piece - 81 if piece >= 1629 else piece for piece in with_kings]
    if features == "ka2":
        return [*folded, 1629 + side.own_king, 1710 + side.enemy_king]
    king, mirrored = side.own_king, features in ("halfkpvm", "halfkahm1", "halfkahm2") and side.own_king >= 45
    numbers = side.pieces if "halfkp" in features else with_kings if features.endswith("1") else folded
    if mirrored:
        king = _mirror(king)
        numbers = [
            piece if piece < 90 else 90 + 81 * ((piece - 90) // 81) + _mirror((piece - 90) % 81) for piece in numbers
        ]
    block = 1548 if "halfkp" in features else 1710 if features.endswith("1") else 1629
    return [block * king + piece for piece in numbers]


def _king_zone(token: str, square: int) -> int:
    rank, file = square % 9, square // 9
    if token == "k3k3":
        return rank // 3
    if token == "k9k9":
        return rank
    if token == "k13k13z":
        return rank if rank < 7 else 7 + 3 * (rank - 7) + file // 3
    if token == "k29k29" and rank >= 6:
        return 2 + 9 * (rank - 6) + file
    if rank < 7:
        return 0 if rank < 3 else 1 if rank < 6 else 2
    return 3 + 3 * (rank - 7) + file // 3 if token == "k9k9z" else 3 + 9 * (rank - 7) + file


def _hand_class(token: str, hand: dict[str, int]) -> int:
    points = {"P": 1, "L": 2, "N": 2, "S": 3, "G": 3, "B": 5, "R": 5}
    if token == "hand64z":
        return min(7, (sum(points[name] * count for name, count in hand.items()) + 3) // 4)
    groups = {
        "hand4": ("B",),
        "hand16": ("P", "B"),
        "hand64": ("PLN", "GSR", "B"),
        "hand256": ("PLN", "SG", "B", "R"),
        "hand1024": ("P", "LN", "SG", "B", "R"),
    }[token]
    return sum(1 << bit for bit, group in enumerate(groups) if any(hand.get(name) for name in group))


def stack_index(tokens: list[str], mover: Side, other: Side, content: bytes, place: int) -> int:
    """Return the stack of a position; `place` is where the progress table's bias stands in the file."""
    index = 0
    for token in tokens:
        if token in HAND_CLASSES:
            count = HAND_CLASSES[token]
            index = count * _hand_class(token, mover.hand) + _hand_class(token, other.hand)
    for token in tokens:
        if token in KING_ZONES:
            count = KING_ZONES[token]
            index = index * count**2 + count * _king_zone(token, mover.own_king) + _king_zone(token, other.own_king)
    for token in tokens:
        if token.startswith("progress"):
            parts = int(token.removeprefix("progress"))
            total = _number(content, place, 4)
            for side in (mover, other):
                block = place + 4 + 4 * 1548 * side.own_king
                total += sum(_number(content, block + 4 * piece, 4) for piece in side.pieces)
            reached = sum(round(65536 * math.log(i / (256 - i))) <= total for i in range(1, 256))
            index = index * parts + reached * parts // 256
    return index


def _number(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "little", signed=True)


def _wrap(number: int) -> int:
    return (number + (1 << 15)) % (1 << 16) - (1 << 15)


def _unpack(content: bytes, place: int) -> tuple[list[int], int]:
    """Return the values of a LEB128 block, and where it ends."""
    assert content[place : place + 17] == b"COMPRESSED_LEB128"
    end = place + 21 + int.from_bytes(content[place + 17 : place + 21], "little")
    values, value, shift = [], 0, 0
    for byte in content[place + 21 : end]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value - (1 << shift) if byte & 64 else value)
            value = shift = 0
    return values, end


class Description:
    """A file's network; `name` is YaneuraOu's name of its architecture."""

    def __init__(self, content: bytes, name: str) -> None:
        self.content = content
        parts = name.lower().replace("-", "_").split("_")
        self.sfnn = parts[0] == "sfnn"
        parts = parts[1:] if self.sfnn else parts
        self.features, self.width = parts[0], int(parts[1].removesuffix("x2"))
        self.first, self.second = int(parts[2]), int(parts[3])
        self.tokens, self.shards = parts[4:], None
        if self.tokens and self.tokens[0][0] == "c":
            size, groups = self.tokens[1][1:].split("x")
            self.shards = int(self.tokens[0][1:]), int(size), int(groups)
            self.tokens = self.tokens[2:]
        place = 12 + int.from_bytes(content[8:12], "little") + 4
        count = self.width * INPUTS[self.features]
        if self.sfnn:
            self.bias, place = _unpack(content, place)
            self.rows, place = _unpack(content, place)
            assert len(self.rows) == count
        else:
            self.bias = [_number(content, place + 2 * lane, 2) for lane in range(self.width)]
            self.rows, place = [], place + 2 * self.width
            self.first_row = place
            place += 2 * count
        self.progress = place + 4
        if any(token.startswith("progress") for token in self.tokens):
            place += 8 + 4 * 81 * 1548
        self.stacks = place

    def _row(self, index: int, lane: int) -> int:
        if self.sfnn:
            return 2 * self.rows[index * self.width + lane]
        return _number(self.content, self.first_row + 2 * (index * self.width + lane), 2)

    def output(self, sfen: str) -> int:
        """Return the raw output for the side to move."""
        mover, other = sides(sfen)
        inputs: list[int] = []
        for side in (mover, other):
            active = active_features(side, self.features)
            sums = []
            for lane in range(self.width):
                total = (2 if self.sfnn else 1) * self.bias[lane] + sum(self._row(index, lane) for index in active)
                sums.append(_wrap(total))
            if self.sfnn:
                clipped = [min(max(total, 0), 254) for total in sums]
                half = self.width // 2
                inputs += [clipped[lane] * clipped[half + lane] >> 9 for lane in range(half)]
            else:
                inputs += [min(max(total, 0), 127) for total in sums]
        return self._layers(inputs, stack_index(self.tokens, mover, other, self.content, self.progress))

    def _layers(self, inputs: list[int], stack: int) -> int:
        shortcut = self.sfnn and self.first % 8 == 7
        middle = 2 * self.first if self.sfnn else self.first
        shapes = [(self.first + shortcut, len(inputs)), (self.second, middle), (1, self.second)]
        size = 4 + sum(4 * outputs + outputs * (-(-into // 32) * 32) for outputs, into in shapes)
        place, direct = self.stacks + stack * size + 4, 0
        for number, (outputs, into) in enumerate(shapes):
            row = -(-into // 32) * 32
            weights = place + 4 * outputs
            sums = []
            for output in range(outputs):
                products = [_number(self.content, weights + row * output + index, 1) for index in range(into)]
                seen = range(into)
                if number == 0 and self.shards:
                    common, shard, groups = self.shards
                    start = common + output // (outputs // groups) * shard
                    seen = [*range(common), *range(start, start + shard)]
                sums.append(_number(self.content, place + 4 * output, 4) + sum(products[i] * inputs[i] for i in seen))
            place = weights + row * outputs
            inputs = [min(max(total >> 6, 0), 127) for total in sums]
            if number == 0 and self.sfnn:
                if shortcut:
                    direct = sums.pop()
                    inputs.pop()
                inputs = [min(127, total * total >> 19) for total in sums] + inputs
        return sums[0] + direct
