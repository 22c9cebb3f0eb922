// SPDX-License-Identifier: GPL-3.0-or-later
// The C interface over the exported header lite_eval.h. No exception leaves it.
#include "lite_c.h"

#include "lite_eval.h"
#include "sfen.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

struct lite_network {
    lite_eval::Network network;
};

struct lite_evaluator {
    explicit lite_evaluator(const lite_network& owner) : accumulator(owner.network) {}
    lite_eval::Accumulator accumulator;
};

static_assert(sizeof(lite_placement) == sizeof(lite_eval::Placement), "both are 81 + 14 bytes");

static void report(char* error, std::size_t error_size, const std::string& reason) {
    if (error_size > 0) std::snprintf(error, error_size, "%s", reason.c_str());
}

static double probability(std::int32_t output) { return 1 / (1 + std::exp(-lite_eval::logit(output))); }

lite_network* lite_load(const char* path, char* error, size_t error_size) try {
    auto loaded = std::make_unique<lite_network>();
    const std::string wrong = loaded->network.load(path);
    if (wrong.empty()) return loaded.release();
    report(error, error_size, wrong);
    return nullptr;
} catch (const std::exception&) {
    if (error_size > 0) std::snprintf(error, error_size, "memory is short");
    return nullptr;
}

void lite_free(lite_network* network) { delete network; }

lite_evaluator* lite_new_evaluator(const lite_network* network) try {
    return new lite_evaluator(*network);
} catch (const std::exception&) {
    return nullptr;
}

void lite_free_evaluator(lite_evaluator* evaluator) { delete evaluator; }

void lite_refresh(lite_evaluator* evaluator, const lite_placement* placement) {
    lite_eval::Placement copy;
    std::memcpy(&copy, placement, sizeof copy);
    evaluator->accumulator.set_up(copy);
}

lite_value lite_evaluate(lite_evaluator* evaluator, int32_t mover, int32_t in_check) {
    const lite_eval::Outputs outputs = evaluator->accumulator.evaluate(mover, in_check != 0);
    lite_value value = {lite_eval::centipawns(outputs[0]), probability(outputs[0]), -1};
    if constexpr (lite_eval::OUTPUTS > 1) value.draw = probability(outputs[lite_eval::OUTPUTS - 1]);
    return value;
}

int32_t lite_read_sfen(const char* sfen, lite_position* position, char* error, size_t error_size) try {
    SfenPosition found;
    const std::string wrong = read_sfen(sfen, found);
    if (!wrong.empty()) {
        report(error, error_size, wrong);
        return 0;
    }
    std::memcpy(&position->placement, &found.placement, sizeof found.placement);
    position->turn = found.turn;
    position->in_check = found.in_check;
    return 1;
} catch (const std::exception&) {
    if (error_size > 0) std::snprintf(error, error_size, "memory is short");
    return 0;
}
