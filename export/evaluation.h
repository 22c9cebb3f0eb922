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

@PLACEMENT@

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

@ACCUMULATOR@

}  // namespace @NAMESPACE@

#if defined(_MSC_VER) && !defined(__clang__)
#pragma warning(pop)
#endif
