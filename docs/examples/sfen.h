// SPDX-License-Identifier: GPL-3.0-or-later
// Reads an SFEN into a placement, and finds whether the side to move is in check. An engine has its own code for both.
#pragma once

#include "lite_eval.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

struct SfenPosition {
    lite_eval::Placement placement;
    int turn;  // side to move: 0 black, 1 white
    bool in_check;
};

// Whether a piece of a colour and kind on `from` attacks `to`.
inline bool attacks(const lite_eval::Placement& placement, int colour, int kind, int from, int to) {
    using namespace lite_eval;
    const int down = to % 9 - from % 9, left = to / 9 - from / 9;
    const int ahead = colour == 0 ? -down : down, rows = std::abs(down), files = std::abs(left);
    const bool adjacent = rows <= 1 && files <= 1;
    switch (kind) {
        case PAWN: return ahead == 1 && files == 0;
        case KNIGHT: return ahead == 2 && files == 1;
        case SILVER: return adjacent && (ahead == 1 || (ahead == -1 && files == 1));
        case KING: return adjacent;
        case LANCE: if (ahead <= 0 || files != 0) return false; break;
        case HORSE: if (adjacent) return true; [[fallthrough]];
        case BISHOP: if (rows != files) return false; break;
        case DRAGON: if (adjacent) return true; [[fallthrough]];
        case ROOK: if (rows != 0 && files != 0) return false; break;
        default: return adjacent && (ahead == 1 || rows == 0 || files == 0);  // gold, promoted pawn to silver
    }
    const int step = (left > 0 ? 9 : left < 0 ? -9 : 0) + (down > 0 ? 1 : down < 0 ? -1 : 0);
    for (int square = from + step; square != to; square += step)
        if (placement.board[square] != EMPTY) return false;
    return true;
}

// Whether a colour attacks a square.
inline bool is_attacked(const lite_eval::Placement& placement, int colour, int target) {
    using namespace lite_eval;
    for (int square = 0; square < SQUARES; ++square) {
        const int piece = placement.board[square];
        if (piece != EMPTY && piece / KINDS == colour && attacks(placement, colour, piece % KINDS, square, target))
            return true;
    }
    return false;
}

// Returns an empty text, or the reason why the SFEN is invalid. Two pawns of one colour on a file, and pieces that can
// never move, are accepted.
inline std::string read_sfen(const std::string& sfen, SfenPosition& position) {
    using namespace lite_eval;
    const std::string letters = "PLNSBRGK";  // in the order of the kinds
    std::istringstream words(sfen);
    std::string board, turn, hands, number, rest;
    if (!(words >> board >> turn >> hands)) return "an SFEN has a board, a side to move and hands";
    if (words >> number && number.find_first_not_of("0123456789") != std::string::npos) return "invalid move number";
    if (words >> rest) return "words after the move number: play moves first";

    std::fill_n(position.placement.board, SQUARES, static_cast<std::uint8_t>(EMPTY));
    int kings[2] = {-1, -1}, rank = 0, file = 9;  // `file` counts down: the next piece stands on `file` - 1
    int used[KINDS] = {};  // pieces on the board and in both hands, by their unpromoted kind
    bool promoted = false;
    for (const char letter : board) {
        if (letter == '/') {
            if (file != 0 || promoted || ++rank > 8) return "the board needs 9 ranks of 9 squares";
            file = 9;
        } else if (letter >= '1' && letter <= '9') {
            if (promoted || (file -= letter - '0') < 0) return "the board needs 9 ranks of 9 squares";
        } else if (letter == '+') {
            if (promoted) return "two + before one piece";
            promoted = true;
        } else {
            const bool black = letter >= 'A' && letter <= 'Z';
            const std::size_t kind = letters.find(black ? letter : static_cast<char>(letter - 'a' + 'A'));
            if (kind == std::string::npos || (promoted && kind >= GOLD)) return "unknown piece on the board";
            if (--file < 0) return "the board needs 9 ranks of 9 squares";
            const int colour = black ? 0 : 1, square = file * 9 + rank;
            if (kind == KING && kings[colour] >= 0) return "two kings of one colour";
            if (kind == KING) kings[colour] = square;
            ++used[kind];
            position.placement.board[square] =
                static_cast<std::uint8_t>(colour * KINDS + static_cast<int>(kind) + (promoted ? 8 : 0));
            promoted = false;
        }
    }
    if (rank != 8 || file != 0 || promoted) return "the board needs 9 ranks of 9 squares";
    if (kings[0] < 0 || kings[1] < 0) return "both kings are required";

    if (turn != "b" && turn != "w") return "the side to move is b or w";
    position.turn = turn == "w";

    int count = -1;  // -1: no number before the letter
    std::memset(position.placement.hands, 0, sizeof position.placement.hands);
    for (const char letter : hands == "-" ? std::string() : hands) {
        if (letter >= '0' && letter <= '9') {
            count = (std::min)((std::max)(count, 0) * 10 + letter - '0', 99);
            continue;
        }
        const bool black = letter >= 'A' && letter <= 'Z';
        const std::size_t kind = letters.find(black ? letter : static_cast<char>(letter - 'a' + 'A'));
        if (kind >= KING) return "unknown piece in hand";
        std::uint8_t& held = position.placement.hands[black ? 0 : 1][kind];
        const int added = count < 0 ? 1 : count;
        if (held + added > MOST_IN_HAND[kind]) return "too many pieces in hand";
        held = static_cast<std::uint8_t>(held + added);
        used[kind] += added;
        count = -1;
    }
    if (count >= 0) return "a number without a piece in hand";
    for (int kind = 0; kind < HAND_KINDS; ++kind)
        if (used[kind] > MOST_IN_HAND[kind]) return "more pieces of a kind than a set has";

    const int enemy = 1 - position.turn;
    if (is_attacked(position.placement, position.turn, kings[enemy])) return "the side that is not to move is in check";
    position.in_check = is_attacked(position.placement, enemy, kings[position.turn]);
    return {};
}
