/* SPDX-License-Identifier: GPL-3.0-or-later
   Prints the evaluation of each SFEN, from the view of the side to move: evaluate_sfen_c WEIGHTS SFEN... */
#include "lite_c.h"

#include <stdio.h>

int main(int count, char** arguments) {
    char error[256];
    int n, status = 0;
    lite_network* network;
    lite_evaluator* evaluator;

    if (count < 3) {
        fprintf(stderr, "usage: %s WEIGHTS SFEN...\n", arguments[0]);
        return 2;
    }
    network = lite_load(arguments[1], error, sizeof error);
    if (network == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    evaluator = lite_new_evaluator(network);
    if (evaluator == NULL) {
        fprintf(stderr, "memory is short\n");
        lite_free(network);
        return 1;
    }
    for (n = 2; n < count && status == 0; ++n) {
        lite_position position;
        if (lite_read_sfen(arguments[n], &position, error, sizeof error)) {
            lite_value value;
            lite_refresh(evaluator, &position.placement);
            value = lite_evaluate(evaluator, position.turn, position.in_check);
            printf("%d cp, win probability %.6f", (int)value.centipawns, value.win);
            if (value.draw >= 0) printf(", draw probability %.6f", value.draw);
            printf("\n");
        } else {
            fprintf(stderr, "%s: %s\n", arguments[n], error);
            status = 1;
        }
    }
    lite_free_evaluator(evaluator);
    lite_free(network);
    return status;
}
