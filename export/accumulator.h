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
