/* SPDX-License-Identifier: GPL-3.0-or-later
   C interface of an exported network, for C and for every language that calls C. lite_c.cpp implements it. */
#ifndef LITE_C_H
#define LITE_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lite_network lite_network;     /* the weights; all threads share one */
typedef struct lite_evaluator lite_evaluator; /* the sums of one position; one per thread */

/* Squares are file * 9 + rank, 1a = 0. Pieces are colour * 14 + kind, 28 is empty; black is 0, white is 1.
   Kinds: pawn 0, lance, knight, silver, bishop, rook, gold, king 7; promoted: kind + 8. Hands: kinds 0 to 6. */
typedef struct {
    uint8_t board[81];
    uint8_t hands[2][7];
} lite_placement;

typedef struct {
    lite_placement placement;
    int32_t turn;     /* side to move */
    int32_t in_check; /* 1: the side to move is in check */
} lite_position;

typedef struct {
    int32_t centipawns;
    double win;  /* probability that the side given to lite_evaluate wins; a draw counts half */
    double draw; /* probability of a draw; -1 if the network has no draw output */
} lite_value;

/* Loads the file of weights. Returns NULL on failure, with the reason in `error` (cut to `error_size` bytes). */
lite_network* lite_load(const char* path, char* error, size_t error_size);
void lite_free(lite_network* network); /* free its evaluators first */

/* Returns NULL if memory is short. */
lite_evaluator* lite_new_evaluator(const lite_network* network);
void lite_free_evaluator(lite_evaluator* evaluator);

/* Computes the sums of a position from its pieces. Required before the first lite_evaluate. */
void lite_refresh(lite_evaluator* evaluator, const lite_placement* placement);

/* Evaluates the position from the view of `mover` (0 black, 1 white). */
lite_value lite_evaluate(lite_evaluator* evaluator, int32_t mover, int32_t in_check);

/* Reads an SFEN. Returns 1, or 0 with the reason in `error`. An engine fills a lite_placement from its own board. */
int32_t lite_read_sfen(const char* sfen, lite_position* position, char* error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
