// Squares, pieces, hands and codes

// A square is file * 9 + rank, both from 0 (1a = 0, 9i = 80). A piece is colour * 14 + kind, black being colour 0.
enum Kind : int {
    PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING,
    PRO_PAWN, PRO_LANCE, PRO_KNIGHT, PRO_SILVER, HORSE, DRAGON
};
inline constexpr int SQUARES = 81, KINDS = 14, EMPTY = 28, HAND_KINDS = 7, MEN = 38;

// A code names one fact about a position, seen by black: a piece on a square, or "at least n of a kind in hand".
inline constexpr int HAND_CODES = 28 * SQUARES, HAND_SLOTS = 38, CODES = HAND_CODES + 2 * HAND_SLOTS, NO_CODE = CODES;
inline constexpr int HAND_OFFSET[HAND_KINDS] = {0, 18, 22, 26, 30, 32, 34};
inline constexpr int MOST_IN_HAND[HAND_KINDS] = {18, 4, 4, 4, 2, 2, 4};

constexpr std::uint16_t on_board(int colour, int kind, int square) {
    return static_cast<std::uint16_t>((colour * KINDS + kind) * SQUARES + square);
}

constexpr std::uint16_t in_hand(int colour, int kind, int nth) {  // nth counts from 1
    return static_cast<std::uint16_t>(HAND_CODES + colour * HAND_SLOTS + HAND_OFFSET[kind] + nth - 1);
}

// The codes that a move removes and adds. A Change without codes is a null move.
struct Change {
    std::uint16_t removed[2] = {NO_CODE, NO_CODE}, added[2] = {NO_CODE, NO_CODE};
};

// A move of a piece to an empty square.
constexpr Change move(int colour, int kind, int origin, int target, bool promotes) {
    return {{on_board(colour, kind, origin), NO_CODE}, {on_board(colour, promotes ? kind + 8 : kind, target), NO_CODE}};
}

// A move that captures a piece of kind `taken`, promoted or not. `held`: pieces of that kind in hand before.
constexpr Change capture(int colour, int kind, int origin, int target, bool promotes, int taken, int held) {
    return {{on_board(colour, kind, origin), on_board(1 - colour, taken, target)},
            {on_board(colour, promotes ? kind + 8 : kind, target), in_hand(colour, taken % 8, held + 1)}};
}

// A drop of one of the `held` pieces of a kind in hand.
constexpr Change drop(int colour, int kind, int held, int target) {
    return {{in_hand(colour, kind, held), NO_CODE}, {on_board(colour, kind, target), NO_CODE}};
}

// A position, for `Accumulator::set_up`; the sums do not depend on the side to move.
struct Placement {
    std::uint8_t board[SQUARES];  // a piece, or EMPTY
    std::uint8_t hands[2][HAND_KINDS];
};
