// Plays what standard input says on a board of its own and prints what the header under test makes of it.
//
//   set_up TURN BOARD(81) HANDS(14)     do MOVE(16 bits as in hcpe)     null     undo     evaluate IN_CHECK     inside
//
// Each `evaluate` prints the outputs, the centipawns and the last output's logit; after `inside` the weights are those
// that `load` took from memory. `walk` is for measuring, see test_cpp.py.

#include HEADER

#include <cstdio>
#include <cstdlib>
#include <iterator>

struct Game {
    std::vector<NET::Placement> placements;
    int turn = 0;

    NET::Change play(int move) {
        NET::Placement board = placements.back();
        const int target = move & 127, origin = move >> 7 & 127;
        const bool promotes = move >> 14 & 1;
        NET::Change change;
        if (origin >= NET::SQUARES) {
            const int kind = origin - NET::SQUARES;
            change = NET::drop(turn, kind, board.hands[turn][kind]--, target);
            board.board[target] = static_cast<std::uint8_t>(turn * NET::KINDS + kind);
        } else {
            const int kind = board.board[origin] % NET::KINDS;
            if (board.board[target] == NET::EMPTY) {
                change = NET::move(turn, kind, origin, target, promotes);
            } else {
                const int taken = board.board[target] % NET::KINDS;
                change = NET::capture(turn, kind, origin, target, promotes, taken, board.hands[turn][taken % 8]++);
            }
            board.board[target] = static_cast<std::uint8_t>(board.board[origin] + (promotes ? 8 : 0));
            board.board[origin] = NET::EMPTY;
        }
        placements.push_back(board);
        turn = 1 - turn;
        return change;
    }
};

int read() {
    int number = 0;
    if (std::scanf("%d", &number) != 1) std::abort();
    return number;
}

int main(int, char** arguments) {
    NET::Network network;
    const std::string wrong = network.load(arguments[1]);
    if (!wrong.empty()) return std::fprintf(stderr, "%s\n", wrong.c_str()), 1;
    std::printf("%s\n", NET::KERNEL);
    NET::Accumulator accumulator(network);
    Game game;
    for (char letters[16]; std::scanf("%15s", letters) == 1;) {
        const std::string word = letters;
        if (word == "set_up") {
            NET::Placement placement;
            game.turn = read();
            for (auto& piece : placement.board) piece = static_cast<std::uint8_t>(read());
            for (auto& hand : placement.hands)
                for (auto& held : hand) held = static_cast<std::uint8_t>(read());
            game.placements = {placement};
            accumulator.set_up(placement);
        } else if (word == "do") {
            accumulator.do_move(game.play(read()));
        } else if (word == "inside") {
            std::ifstream file(arguments[1], std::ios::binary);
            const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
            const std::vector<unsigned char> content(chars.begin(), chars.end());
            if (network.load(content.data(), content.size() - 1).find("the weights: damaged") != 0) std::abort();
            if (!network.load(content.data(), content.size()).empty()) std::abort();
        } else if (word == "null") {
            accumulator.do_move({});
            game.placements.push_back(game.placements.back());
            game.turn = 1 - game.turn;
        } else if (word == "undo") {
            accumulator.undo_move();
            game.placements.pop_back();
            game.turn = 1 - game.turn;
        } else {
            const NET::Outputs outputs = accumulator.evaluate(game.turn, read() != 0);
            for (const int output : outputs) std::printf("%d ", output);
            std::printf("%d %.17g\n", NET::centipawns(outputs[0]), NET::logit(outputs.back()));
        }
    }
}

// Plays games of `changes` (NET::Change, black to move first) forward, evaluating every position if asked to, and back;
// the sum of all outputs.
extern "C" std::int64_t walk(const char* weights, const NET::Placement* start, const NET::Change* changes,
                             const std::uint8_t* in_check, const std::int64_t* starts, int games, int evaluating) {
    static NET::Network network;
    static const std::string wrong = network.load(weights);
    static NET::Accumulator accumulator(network);
    if (!wrong.empty()) return -1;
    std::int64_t total = 0;
    for (int game = 0; game < games; ++game) {
        accumulator.set_up(*start);
        accumulator.evaluate(0, false), accumulator.evaluate(1, false);
        for (std::int64_t n = starts[game]; n < starts[game + 1]; ++n) {
            accumulator.do_move(changes[n]);
            if (evaluating) total += accumulator.evaluate((n - starts[game] + 1) % 2, in_check[n] != 0)[0];
        }
        for (std::int64_t n = starts[game]; n < starts[game + 1]; ++n) accumulator.undo_move();
    }
    return total;
}
