// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the evaluation of each SFEN, from the view of the side to move: evaluate_sfen WEIGHTS SFEN...
#include "lite_eval.h"
#include "sfen.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

static double probability(std::int32_t output) { return 1 / (1 + std::exp(-lite_eval::logit(output))); }

int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: %s WEIGHTS SFEN...\n", arguments[0]);
        return 2;
    }
    lite_eval::Network network;  // one for all threads
    if (const std::string wrong = network.load(arguments[1]); !wrong.empty()) {
        std::fprintf(stderr, "%s\n", wrong.c_str());
        return 1;
    }
    lite_eval::Accumulator accumulator(network);  // one per thread
    for (int n = 2; n < count; ++n) {
        SfenPosition position;
        if (const std::string wrong = read_sfen(arguments[n], position); !wrong.empty()) {
            std::fprintf(stderr, "%s: %s\n", arguments[n], wrong.c_str());
            return 1;
        }
        accumulator.set_up(position.placement);
        const lite_eval::Outputs outputs = accumulator.evaluate(position.turn, position.in_check);
        std::printf("%d cp, win probability %.6f", lite_eval::centipawns(outputs[0]), probability(outputs[0]));
        if constexpr (lite_eval::OUTPUTS > 1)
            std::printf(", draw probability %.6f", probability(outputs[lite_eval::OUTPUTS - 1]));
        std::printf("\n");
    }
}
