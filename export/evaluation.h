// SPDX-License-Identifier: GPL-3.0-or-later
// The evaluation of the network @NETWORK@, as `liteshogi export` wrote it, in C++17 with the standard library alone.
// Its weights are in @WEIGHTS@, which `Network::load` reads. LiteShogi's docs/how/network_file.md describes their meaning,
// and docs/guide/adopt_in_cpp.md how an engine uses this header. Every kernel below gives the same integers.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SSE4_1__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>  // _BitScanForward
#pragma warning(push)
#pragma warning(disable : 4100 4127 4324)  // code that a network leaves unused or constant; padding after alignas
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are little endian"
#endif

namespace @NAMESPACE@ {

// The network's constants; the code after them is the same in every header. They are `inline`, so that all translation
// units share one of each. Below, (std::max) is in brackets because windows.h has a macro max.
@CONSTANTS@

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

@KERNELS@

// Call a function with each of the compile-time numbers 0 to COUNT - 1, so that arrays it fills stay in registers.
template <int COUNT, class Function, int... NUMBERS>
inline void unroll(Function&& function, std::integer_sequence<int, NUMBERS...>) {
    (function(std::integral_constant<int, NUMBERS>{}), ...);
}
template <int COUNT, class Function>
inline void unroll(Function&& function) {
    unroll<COUNT>(function, std::make_integer_sequence<int, COUNT>{});
}

// target = source + the added rows - the removed ones, of COUNT x 32 lanes from lane `first` on.
struct RowList {
    const std::int16_t* row[2 * (SQUARES + HAND_SLOTS)];
    int count = 0;
};

template <int COUNT>
inline void sum_tile(std::int16_t* target, const std::int16_t* source, const RowList& added, const RowList& removed,
                     int first) {
    Lanes sums[std::size_t{COUNT}];
    unroll<COUNT>([&](auto i) { sums[i].load(source + first + LANES * i); });
    for (int n = 0; n < added.count; ++n) unroll<COUNT>([&](auto i) { sums[i].add(added.row[n] + first + LANES * i); });
    for (int n = 0; n < removed.count; ++n)
        unroll<COUNT>([&](auto i) { sums[i].subtract(removed.row[n] + first + LANES * i); });
    unroll<COUNT>([&](auto i) { sums[i].store(target + first + LANES * i); });
}

inline void sum_rows(std::int16_t* target, const std::int16_t* source, const RowList& added, const RowList& removed) {
    constexpr int REST = WIDTH / LANES % TILE;
    for (int first = 0; first + TILE * LANES <= WIDTH; first += TILE * LANES)
        sum_tile<TILE>(target, source, added, removed, first);
    if constexpr (REST != 0) sum_tile<REST>(target, source, added, removed, WIDTH - REST * LANES);
}

// The network

constexpr int padded(int count) { return (count + OUTPUT_BLOCK - 1) / OUTPUT_BLOCK * OUTPUT_BLOCK; }
inline constexpr int HIDDEN_SUMS = SIZES[0] - (SHORTCUT ? 1 : 0);  // of the first layer that the next layer reads
constexpr int true_inputs(int layer) {
    if (layer == 0) return VIEW_INPUTS * PERSPECTIVES;
    return layer == 1 ? HIDDEN_SUMS * (HIDDEN_SQUARES ? 2 : 1) : SIZES[layer - 1];
}
constexpr int weight_place(int layer) {
    return layer == 0 ? 0 : weight_place(layer - 1) + padded(true_inputs(layer - 1)) * padded(SIZES[layer - 1]);
}
constexpr int bias_place(int layer) { return layer == 0 ? 0 : bias_place(layer - 1) + padded(SIZES[layer - 1]); }

// Inputs are multiplied in steps of some groups of four.
constexpr int step_of(int layer) { return (std::min)(TOGETHER[layer], MOST_TOGETHER); }
constexpr int steps_of(int layer) { return padded(true_inputs(layer)) / (4 * step_of(layer)); }

// Several chains of sums hide the latency of a dot product.
constexpr int chains_of(int blocks, int steps) {
    int chains = (std::max)(1, BLOCKS / blocks);
    while (steps % chains != 0) chains /= 2;
    return chains;
}

using Outputs = std::array<std::int32_t, OUTPUTS>;  // value, and draw if the network has it

// Return the centipawns of a value, from the mover's view: divided, scaled in fixed point, rounded half away from zero,
// within +-20000.
constexpr int centipawns(std::int32_t value) {
    std::int64_t size = value;
    size = std::min<std::int64_t>((size < 0 ? -size : size) / OUTPUT_DIVISOR, std::int64_t{1} << 28);
    constexpr std::int64_t HALF = std::int64_t{1} << 23;
    const std::int64_t score = std::min<std::int64_t>((size * CENTIPAWNS_PER_OUTPUT + HALF) >> 24, 20000);
    return static_cast<int>(value < 0 ? -score : score);
}

// Return the logit of the event that an output predicts, a win for the side to move or a draw: p = 1 / (1 + exp(-logit)).
constexpr double logit(std::int32_t output) { return static_cast<double>(output / OUTPUT_DIVISOR) * LOGIT_PER_OUTPUT; }

// The weights, read once and shared by all threads.
class Network {
  public:
    // Read the file of weights. Return an error message, or an empty string.
    [[nodiscard]] std::string load(const std::string& path) {
        std::vector<unsigned char> content(FILE_BYTES + 1);
        std::ifstream file(path, std::ios::binary);
        if (!file) return path + ": cannot be opened";
        file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
        return load(content.data(), static_cast<std::size_t>(file.gcount()), path);
    }

    // Read the weights from memory, as of a file embedded in the program. `name`: the file in error messages.
    [[nodiscard]] std::string load(const unsigned char* content, std::size_t size,
                                   const std::string& name = "the weights") {
        if (size != FILE_BYTES || checksum(content, size) != FILE_CHECKSUM)
            return name + ": damaged, or not the file that was exported with this header; export both again";
        parts_ = std::make_unique<Parts>();
        const unsigned char* next = content;
        take(next, parts_->rows);
        take(next, parts_->bias);
        for (int layer = 0; layer < LAYERS; ++layer) next = take_layer(next, layer);
        take(next, parts_->row_of_code);
        take(next, parts_->king_bucket);
        if constexpr (KING_ZONES > 1) take(next, parts_->king_zone);
        if constexpr (PROGRESS_PARTS > 1) take(next, parts_->bona_piece), take(next, parts_->progress);
        return {};
    }

    bool is_loaded() const { return parts_ != nullptr; }

    const std::int16_t* bias() const { return parts_->bias; }

    // Return the first number of a code's row; null if the code has no row in this perspective.
    const std::int16_t* row_of(int perspective, int code, int bucket) const {
        const int row = parts_->row_of_code[perspective][bucket % MIRRORS][code];
        return row < 0 ? nullptr : row_at(row + bucket / MIRRORS * KING_STRIDE);
    }
    const std::int16_t* row_at(std::ptrdiff_t row) const { return parts_->rows + row * WIDTH; }

    // Return the bucket of a perspective's own king; `square` as black sees it.
    int king_bucket(int perspective, int square) const {
        return parts_->king_bucket[perspective == 0 ? square : SQUARES - 1 - square];
    }

    // Return the zone of a king; `square` as black sees it, SQUARES without a king.
    int king_zone(int colour, int square) const {
        return parts_->king_zone[colour == 0 || square == SQUARES ? square : SQUARES - 1 - square];
    }

    // Return the number that a code adds to the progress sum; the kings' squares are as black sees them.
    std::int64_t progress_of_code(int code, int black_king, int white_king) const {
        const int piece = parts_->bona_piece[0][code];
        return piece < 0 ? 0 : progress_of(piece, parts_->bona_piece[1][code], black_king, white_king);
    }
    std::int64_t progress_of(int black_piece, int white_piece, int black_king, int white_king) const {
        const int white = white_king == SQUARES ? 0 : SQUARES - 1 - white_king;
        return std::int64_t{parts_->progress[black_king % SQUARES][black_piece]} + parts_->progress[white][white_piece];
    }

    // Return the outputs of a stack, in the bucket that `men_in_hand` selects: the number of pieces in both hands, with
    // at most eight pawns of each side.
    Outputs forward(const std::int16_t* mover, const std::int16_t* other, bool in_check, int men_in_hand,
                    int stack) const {
        alignas(64) std::uint8_t inputs[VIEW_INPUTS * PERSPECTIVES];
        activate(mover, CHECK_ROW >= 0 && in_check ? row_at(CHECK_ROW) : parts_->zeros, inputs);
        if constexpr (PERSPECTIVES == 2) activate(other, parts_->zeros, inputs + VIEW_INPUTS);
        const int first_output = OUTPUTS * (std::min)(men_in_hand * BUCKETS / 20, BUCKETS - 1);
        return layers<0>(inputs, first_output, static_cast<std::size_t>(stack), 0);
    }

  private:
    struct Parts {
        alignas(64) std::int16_t rows[static_cast<std::size_t>(ROWS) * WIDTH];
        alignas(64) std::int16_t bias[WIDTH], zeros[WIDTH] = {};
        // By stack and layer [inputs / 4][outputs][4], padded with 0.
        alignas(64) std::int8_t weights[STACKS * std::size_t{weight_place(LAYERS)}] = {};
        alignas(64) std::int32_t biases[STACKS * std::size_t{bias_place(LAYERS)}];
        std::int16_t row_of_code[2][MIRRORS][CODES + 1];
        std::uint8_t king_bucket[SQUARES];
        std::uint8_t king_zone[SQUARES + 1];  // unused members stay empty
        std::int16_t bona_piece[2][CODES + 1];
        std::int32_t progress[PROGRESS_PARTS > 1 ? SQUARES : 1][BONA_PIECES];
    };

    // Return the CRC-32 of bytes, as zlib computes it.
    static std::uint32_t checksum(const unsigned char* bytes, std::size_t size) {
        std::array<std::uint32_t, 256> table;
        for (std::uint32_t n = 0; n < table.size(); ++n) {
            table[n] = n;
            for (int bit = 0; bit < 8; ++bit) table[n] = table[n] >> 1 ^ (table[n] & 1 ? 0xEDB88320u : 0u);
        }
        std::uint32_t total = ~0u;
        for (std::size_t n = 0; n < size; ++n) total = total >> 8 ^ table[(total ^ bytes[n]) & 255];
        return ~total;
    }

    template <class Part>
    static void take(const unsigned char*& next, Part& part) {
        std::memcpy(&part, next, sizeof part);
        next += sizeof part;
    }

    const unsigned char* take_layer(const unsigned char* next, int layer) {
        const int outputs = SIZES[layer], inputs = true_inputs(layer), stride = 4 * padded(outputs);
        for (std::size_t stack = 0; stack < STACKS; ++stack) {
            std::int8_t* weights = parts_->weights + stack * std::size_t{weight_place(LAYERS)} + weight_place(layer);
            for (int output = 0; output < outputs; ++output)
                for (int input = 0; input < inputs; ++input)
                    weights[input / 4 * stride + 4 * output + input % 4] = static_cast<std::int8_t>(*next++);
        }
        const std::size_t bias_bytes = sizeof(std::int32_t) * static_cast<std::size_t>(outputs);
        for (std::size_t stack = 0; stack < STACKS; ++stack, next += bias_bytes)
            std::memcpy(parts_->biases + stack * std::size_t{bias_place(LAYERS)} + bias_place(layer), next, bias_bytes);
        return next;
    }

    static void activate(const std::int16_t* sums, const std::int16_t* extra, std::uint8_t* target) {
        if constexpr (PAIRWISE) {
            alignas(64) std::uint8_t clipped[WIDTH];
            clip(sums, extra, clipped);
            for (int i = 0; i < WIDTH / 2; ++i)
                target[i] = static_cast<std::uint8_t>(clipped[i] * clipped[WIDTH / 2 + i] >> 7);
        } else {
            clip(sums, extra, target);
            if constexpr (SQUARE_OFFSET >= 0)
                for (int i = 0; i < WIDTH; ++i)
                    target[SQUARE_OFFSET + i] = static_cast<std::uint8_t>((target[i] * target[i] + 64) >> 7);
        }
    }

    static void clip(const std::int16_t* sums, const std::int16_t* extra, std::uint8_t* target) {
        unroll<WIDTH / LANES>([&](auto i) {
            Lanes lanes;
            lanes.load(sums + LANES * i);
            lanes.add(extra + LANES * i);
            if constexpr (DOUBLED) lanes.add(sums + LANES * i), lanes.add(extra + LANES * i);
            lanes.template activate<INPUT_SHIFT + (DOUBLED ? 1 : 0)>(target + LANES * i);
        });
    }

    // COUNT x 16 outputs of a layer, from block `first` on. STEP and CHAINS are parameters because MSVC without
    // /Zc:lambda takes a function's own constants for variables in a lambda.
    template <int LAYER, int COUNT, int STEP = step_of(LAYER), int CHAINS = chains_of(COUNT, steps_of(LAYER))>
    void sum_blocks(Block* sums, const std::uint8_t* inputs, int first, std::size_t stack) const {
        const int stride = 4 * padded(SIZES[LAYER]);
        const std::int8_t* weights = parts_->weights + stack * std::size_t{weight_place(LAYERS)};
        const std::int32_t* biases = parts_->biases + stack * std::size_t{bias_place(LAYERS)};
        weights += weight_place(LAYER) + 4 * OUTPUT_BLOCK * first, biases += bias_place(LAYER) + OUTPUT_BLOCK * first;
        Block chains[std::size_t{CHAINS}][std::size_t{COUNT}];
        unroll<COUNT>([&](auto block) { chains[0][block].load(biases + OUTPUT_BLOCK * block); });
        for (int step = 0; step < steps_of(LAYER); step += CHAINS)
            unroll<CHAINS>([&](auto chain) {
                const int group = STEP * (step + chain);
                const std::int8_t* row = weights + group * stride;
                unroll<COUNT>([&](auto block) {
                    const std::int8_t* place = row + 4 * OUTPUT_BLOCK * block;
                    chains[chain][block].template dot<STEP>(inputs + 4 * group, place, stride);
                });
            });
        unroll<COUNT>([&](auto block) {
            unroll<CHAINS - 1>([&](auto chain) { chains[0][block].add(chains[chain + 1][block]); });
            sums[block] = chains[0][block];
        });
    }

    template <int LAYER, int COUNT>
    void activate_blocks(std::uint8_t* target, const std::uint8_t* inputs, int first, std::size_t stack) const {
        Block sums[std::size_t{COUNT}];
        sum_blocks<LAYER, COUNT>(sums, inputs, first, stack);
        unroll<COUNT>([&](auto i) { sums[i].template activate<SHIFTS[LAYER]>(target + OUTPUT_BLOCK * (first + i)); });
    }

    // Compute the first hidden layer of a network with squares or a shortcut: write its activations, and return the
    // shortcut's sum.
    template <int COUNT>
    std::int32_t square_and_clip(std::uint8_t* target, const std::uint8_t* inputs, std::size_t stack) const {
        alignas(64) std::int32_t sums[std::size_t{COUNT * OUTPUT_BLOCK}];
        for (int first = 0; first < COUNT; ++first) {
            Block block[1];
            sum_blocks<0, 1>(block, inputs, first, stack);
            block[0].store(sums + OUTPUT_BLOCK * first);
        }
        if constexpr (HIDDEN_SQUARES)
            for (int i = 0; i < HIDDEN_SUMS; ++i) {
                const std::int64_t square = std::int64_t{sums[i]} * sums[i] >> (2 * SHIFTS[0] + 7);
                *target++ = static_cast<std::uint8_t>(std::min<std::int64_t>(square, ACTIVATION_LIMIT));
            }
        for (int i = 0; i < HIDDEN_SUMS; ++i)
            target[i] = static_cast<std::uint8_t>(std::clamp(sums[i] >> SHIFTS[0], 0, ACTIVATION_LIMIT));
        return SHORTCUT ? sums[HIDDEN_SUMS] : 0;
    }

    template <int LAYER>
    Outputs layers(const std::uint8_t* inputs, int first_output, std::size_t stack, std::int32_t shortcut) const {
        if constexpr (LAYER == LAYERS - 1) {
            Block sums[1];
            sum_blocks<LAYER, 1>(sums, inputs, 0, stack);
            alignas(64) std::int32_t stored[OUTPUT_BLOCK];
            sums[0].store(stored);
            Outputs found;
            std::copy_n(stored + first_output, found.size(), found.begin());
            const std::uint32_t value = static_cast<std::uint32_t>(found[0]) + static_cast<std::uint32_t>(shortcut);
            found[0] = static_cast<std::int32_t>(value);  // unsigned numbers wrap
            return found;
        } else {
            constexpr int COUNT = padded(SIZES[LAYER]) / OUTPUT_BLOCK;
            if constexpr (LAYER == 0 && (HIDDEN_SQUARES || SHORTCUT)) {
                alignas(64) std::uint8_t target[std::size_t{padded(true_inputs(1))}] = {};
                const std::int32_t direct = square_and_clip<COUNT>(target, inputs, stack);
                return layers<1>(target, first_output, stack, direct);
            } else {
                alignas(64) std::uint8_t target[std::size_t{COUNT * OUTPUT_BLOCK}];
                for (int first = 0; first + 2 <= COUNT; first += 2)
                    activate_blocks<LAYER, 2>(target, inputs, first, stack);
                if constexpr (COUNT % 2 != 0) activate_blocks<LAYER, 1>(target, inputs, COUNT - 1, stack);
                return layers<LAYER + 1>(target, first_output, stack, shortcut);
            }
        }
    }

    std::unique_ptr<Parts> parts_;
};

// The sums of one thread, by ply. A move is only recorded; sums are computed when a position is evaluated.
class Accumulator {
  public:
    static constexpr int MAX_PLIES = 256;  // most moves from set_up

    explicit Accumulator(const Network& network) : network_(network), plies_(MAX_PLIES + 1) {}
    Accumulator(const Accumulator&) = delete;

    // Begin at a position: the root of a search.
    void set_up(const Placement& placement) {
        assert(network_.is_loaded());  // call load first; it returns the error
        std::memset(codes_, 0, sizeof codes_);
        int men = 0;
        top_ = plies_.data();
        top_->bucket[0] = top_->bucket[1] = 0;
        top_->king[0] = top_->king[1] = SQUARES;
        for (int square = 0; square < SQUARES; ++square) {
            const int piece = placement.board[square];
            if (piece >= EMPTY) continue;
            toggle(on_board(0, piece, square));
            if (piece % KINDS == KING)
                place_king(piece / KINDS, square);
            else
                ++men;
        }
        for (int colour = 0; colour < 2; ++colour)
            for (int kind = 0; kind < HAND_KINDS; ++kind) {
                const int held = std::min<int>(placement.hands[colour][kind], MOST_IN_HAND[kind]);
                for (int nth = 1; nth <= held; ++nth) toggle(in_hand(colour, kind, nth));
                men += held;
            }
        top_->known[0] = top_->known[1] = top_->has_progress = false;
        if (missing_ != (std::max)(0, MEN - men)) forget((std::max)(0, MEN - men));
    }

    void do_move(const Change& change) {
        assert(top_ != nullptr);  // call set_up first
        assert(top_ - plies_.data() < MAX_PLIES);
        const Ply& before = *top_++;
        top_->change = change;
        top_->known[0] = top_->known[1] = top_->has_progress = false;
        top_->bucket[0] = before.bucket[0], top_->bucket[1] = before.bucket[1];
        top_->king[0] = before.king[0], top_->king[1] = before.king[1];
        if constexpr (KING_STRIDE > 0 || KING_ZONES > 1 || PROGRESS_PARTS > 1)
            for (int colour = 0; colour < 2; ++colour) {
                const int square = change.added[0] - on_board(colour, KING, 0);
                if (square >= 0 && square < SQUARES) place_king(colour, square);
            }
        toggle(change);
    }

    void undo_move() {
        assert(top_ > plies_.data());
        toggle(top_->change);
        --top_;
    }

    // Return the outputs of the position. `mover`: the side to move, 0 black, 1 white.
    Outputs evaluate(int mover, bool in_check) {
        assert(top_ != nullptr);
        update(mover);
        if constexpr (PERSPECTIVES == 2) update(1 - mover);
        const int men = BUCKETS > 1 ? men_in_hand() : 0;
        return network_.forward(top_->sums[mover], top_->sums[1 - mover], in_check, men, stack(mover));
    }

  private:
    static constexpr int MAX_BACK = 8;  // beyond it, the rows of all moves cost as much as a refresh
    static constexpr int WORDS = CODES / 64 + 1;

    struct Ply {
        alignas(64) std::int16_t sums[2][WIDTH];
        Change change;
        std::uint8_t bucket[2];  // of each colour's king
        std::uint8_t king[2];    // its square; SQUARES if there is none
        bool known[2];           // whether the sums of a perspective are computed
        bool has_progress;       // whether `progress` is computed
        std::int64_t progress;   // sum of the progress regression over all pieces
    };

    // The start of a refresh: the last sums with the king in a bucket, and the codes that they contain.
    struct Kept {
        alignas(64) std::int16_t sums[WIDTH];
        std::uint64_t codes[WORDS];
    };

    int men_in_hand() const {
        int men = 0;
        for (int colour = 0; colour < 2; ++colour)
            for (int kind = 0; kind < HAND_KINDS; ++kind)
                for (int nth = 1; nth <= MOST_IN_HAND[kind] && nth <= 8 && holds(in_hand(colour, kind, nth)); ++nth) ++men;
        return men;
    }

    // Return the index of the copy of the layers that evaluates the position.
    int stack(int mover) {
        int found = 0;
        if constexpr (HAND_CLASSES > 1) found = HAND_CLASSES * hand_class(mover) + hand_class(1 - mover);
        if constexpr (KING_ZONES > 1)
            for (const int colour : {mover, 1 - mover})
                found = found * KING_ZONES + network_.king_zone(colour, top_->king[colour]);
        if constexpr (PROGRESS_PARTS > 1) found = found * PROGRESS_PARTS + progress();
        return found;
    }

    int hand_class(int colour) const {
        int bits = 0, points = 0;
        for (int kind = 0; kind < HAND_KINDS; ++kind) {
            int held = 0;
            while (held < MOST_IN_HAND[kind] && holds(in_hand(colour, kind, held + 1))) ++held;
            if (held > 0) bits |= HAND_BITS[kind];
            points += held * HAND_WEIGHTS[kind];
        }
        return bits + (std::min)(7, (points + 3) / 4);
    }

    // Return the part of the game's progress by a logistic regression over all pieces; the limits are those of its sum.
    int progress() {
        if (!top_->has_progress) sum_progress();
        int part = 0;
        while (PROGRESS_LIMITS[part] <= top_->progress) ++part;
        return part;
    }

    // Compute the progress sum: from the last computed ply if the kings' squares are equal, else from all pieces.
    void sum_progress() {
        const int black = top_->king[0], white = top_->king[1];
        const Ply* from = top_;
        for (int back = 0; !from->has_progress && from != plies_.data() && back < MAX_BACK; ++back) --from;
        std::int64_t total = from->progress;
        if (from->has_progress && from->king[0] == black && from->king[1] == white) {
            for (const Ply* ply = from + 1; ply <= top_; ++ply)
                for (int n = 0; n < 2; ++n) {
                    total += network_.progress_of_code(ply->change.added[n], black, white);
                    total -= network_.progress_of_code(ply->change.removed[n], black, white);
                }
        } else {
            total = PROGRESS_BIAS + missing_ * network_.progress_of(0, 0, black, white);
            for (int word = 0; word < WORDS; ++word)
                for (std::uint64_t held = codes_[word]; held != 0; held &= held - 1)
                    total += network_.progress_of_code(64 * word + lowest(held), black, white);
        }
        top_->progress = total;
        top_->has_progress = true;
    }

    void place_king(int colour, int square) {
        top_->bucket[colour] = static_cast<std::uint8_t>(network_.king_bucket(colour, square));
        top_->king[colour] = static_cast<std::uint8_t>(square);
    }

    bool holds(int code) const { return codes_[code / 64] >> code % 64 & 1; }
    void toggle(int code) { codes_[code / 64] ^= std::uint64_t{1} << code % 64; }
    void toggle(const Change& change) {  // NO_CODE has a bit, too, which is never read
        for (int n = 0; n < 2; ++n) toggle(change.removed[n]), toggle(change.added[n]);
    }

    // Reset all kept sums to empty boards on which `missing` men are missing.
    void forget(int missing) {
        missing_ = missing;
        kept_.resize(2 * KING_BUCKETS);
        for (int entry = 0; entry < 2 * KING_BUCKETS; ++entry) {
            RowList added, removed;
            if constexpr (MISSING_ROW >= 0)
                for (; added.count < missing; ++added.count)
                    added.row[added.count] =
                        network_.row_at(MISSING_ROW + entry % KING_BUCKETS / MIRRORS * KING_STRIDE);
            Kept& kept = kept_.data()[entry];
            sum_rows(kept.sums, network_.bias(), added, removed);
            std::memset(kept.codes, 0, sizeof kept.codes);
        }
    }

    void list(RowList& rows, int perspective, int code) const {
        if (const std::int16_t* row = network_.row_of(perspective, code, top_->bucket[perspective]))
            rows.row[rows.count++] = row;
    }

    static int lowest(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
        unsigned long place;  // scanned by 32 bits, because 32-bit programs have no _BitScanForward64
        if (_BitScanForward(&place, static_cast<unsigned long>(word))) return static_cast<int>(place);
        _BitScanForward(&place, static_cast<unsigned long>(word >> 32));
        return static_cast<int>(place) + 32;
#else
        return __builtin_ctzll(word);
#endif
    }

    // Compute the sums from those kept for the king's bucket, by adding and removing the codes that differ.
    void refresh(int perspective) {
        Kept& kept = kept_.data()[perspective * KING_BUCKETS + top_->bucket[perspective]];
        RowList added, removed;
        for (int word = 0; word < WORDS; ++word) {
            for (std::uint64_t differing = codes_[word] ^ kept.codes[word]; differing != 0; differing &= differing - 1) {
                const int place = lowest(differing);
                list(codes_[word] >> place & 1 ? added : removed, perspective, 64 * word + place);
            }
            kept.codes[word] = codes_[word];
        }
        sum_rows(kept.sums, kept.sums, added, removed);
        std::memcpy(top_->sums[perspective], kept.sums, sizeof kept.sums);
        top_->known[perspective] = true;
    }

    // Compute the sums from the last computed ply, in one pass over the rows of all moves since.
    void update(int perspective) {
        const Ply* from = top_;
        for (int back = 0; !from->known[perspective]; ++back, --from)
            if (from == plies_.data() || back == MAX_BACK) return refresh(perspective);
        if (from == top_) return;
        if (from->bucket[perspective] != top_->bucket[perspective]) return refresh(perspective);
        RowList added, removed;
        for (const Ply* ply = from + 1; ply <= top_; ++ply)
            for (int n = 0; n < 2; ++n) {
                list(removed, perspective, ply->change.removed[n]);
                list(added, perspective, ply->change.added[n]);
            }
        sum_rows(top_->sums[perspective], from->sums[perspective], added, removed);
        top_->known[perspective] = true;
    }

    const Network& network_;
    std::vector<Ply> plies_;
    std::vector<Kept> kept_;
    Ply* top_ = nullptr;
    int missing_ = -1;
    std::uint64_t codes_[WORDS];  // a bit for each code of the current position
};

}  // namespace @NAMESPACE@

#if defined(_MSC_VER) && !defined(__clang__)
#pragma warning(pop)
#endif
