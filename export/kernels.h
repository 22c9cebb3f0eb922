// The kernels. Lanes are 32 int16 of a sum; a Block is 16 int32 sums of a layer. `dot` adds to each sum the products of
// GROUPS times four inputs (0 to 127) with its weights, those of the next four `stride` further on. TILE and BLOCKS say
// how many of them the registers hold. MOST_TOGETHER: the most groups whose products a kernel adds as int16.

inline constexpr int LANES = 32, OUTPUT_BLOCK = 16, ACTIVATION_LIMIT = 127;

// Return a group of four inputs as one number.
inline std::int32_t four(const std::uint8_t* inputs) {
    std::int32_t number;
    std::memcpy(&number, inputs, sizeof number);
    return number;
}

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
inline constexpr const char* KERNEL = "AVX-512 VNNI";
inline constexpr int TILE = 12, BLOCKS = 8, MOST_TOGETHER = 1;

struct Lanes {
    __m512i value;

    void load(const std::int16_t* source) { value = _mm512_loadu_si512(source); }
    void add(const std::int16_t* row) { value = _mm512_add_epi16(value, _mm512_loadu_si512(row)); }
    void subtract(const std::int16_t* row) { value = _mm512_sub_epi16(value, _mm512_loadu_si512(row)); }
    void store(std::int16_t* target) const { _mm512_storeu_si512(target, value); }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        const __m512i positive = _mm512_max_epi16(_mm512_srai_epi16(value, SHIFT), _mm512_setzero_si512());
        const __m512i clipped = _mm512_min_epi16(positive, _mm512_set1_epi16(ACTIVATION_LIMIT));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm512_cvtepi16_epi8(clipped));
    }
};

struct Block {
    __m512i value = _mm512_setzero_si512();

    void load(const std::int32_t* source) { value = _mm512_loadu_si512(source); }
    void add(const Block& other) { value = _mm512_add_epi32(value, other.value); }
    template <int GROUPS>
    void dot(const std::uint8_t* inputs, const std::int8_t* weights, int stride) {
        for (int i = 0; i < GROUPS; ++i) {
            const __m512i fours = _mm512_set1_epi32(four(inputs + 4 * i));
            value = _mm512_dpbusd_epi32(value, fours, _mm512_loadu_si512(weights + i * stride));
        }
    }
    void store(std::int32_t* target) const { _mm512_storeu_si512(target, value); }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        const __m512i positive = _mm512_max_epi32(_mm512_srai_epi32(value, SHIFT), _mm512_setzero_si512());
        const __m512i clipped = _mm512_min_epi32(positive, _mm512_set1_epi32(ACTIVATION_LIMIT));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm512_cvtepi32_epi8(clipped));
    }
};

#elif defined(__AVX2__)
#if defined(__AVXVNNI__)
inline constexpr const char* KERNEL = "AVX-VNNI";
inline constexpr int TILE = 6, BLOCKS = 4, MOST_TOGETHER = 1;
#else
inline constexpr const char* KERNEL = "AVX2";
inline constexpr int TILE = 6, BLOCKS = 2, MOST_TOGETHER = 4;
#endif

inline __m256i load256(const void* source) { return _mm256_loadu_si256(static_cast<const __m256i*>(source)); }
inline void store256(void* target, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(target), value); }

struct Lanes {
    __m256i low, high;

    void load(const std::int16_t* source) { low = load256(source), high = load256(source + 16); }
    void add(const std::int16_t* row) {
        low = _mm256_add_epi16(low, load256(row)), high = _mm256_add_epi16(high, load256(row + 16));
    }
    void subtract(const std::int16_t* row) {
        low = _mm256_sub_epi16(low, load256(row)), high = _mm256_sub_epi16(high, load256(row + 16));
    }
    void store(std::int16_t* target) const { store256(target, low), store256(target + 16, high); }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        // Packing saturates to -128..127 and interleaves the halves.
        const __m256i bytes = _mm256_packs_epi16(_mm256_srai_epi16(low, SHIFT), _mm256_srai_epi16(high, SHIFT));
        const __m256i positive = _mm256_max_epi8(bytes, _mm256_setzero_si256());
        store256(target, _mm256_permute4x64_epi64(positive, 0b11011000));
    }
};

struct Block {
    __m256i low = _mm256_setzero_si256(), high = low;

    void load(const std::int32_t* source) { low = load256(source), high = load256(source + 8); }
    void add(const Block& other) { low = _mm256_add_epi32(low, other.low), high = _mm256_add_epi32(high, other.high); }
    template <int GROUPS>
    void dot(const std::uint8_t* inputs, const std::int8_t* weights, int stride) {
#if defined(__AVXVNNI__)
        for (int i = 0; i < GROUPS; ++i, weights += stride) {
            const __m256i fours = _mm256_set1_epi32(four(inputs + 4 * i));
            low = _mm256_dpbusd_avx_epi32(low, fours, load256(weights));
            high = _mm256_dpbusd_avx_epi32(high, fours, load256(weights + 32));
        }
#else
        __m256i low_pairs = _mm256_setzero_si256(), high_pairs = low_pairs;
        for (int i = 0; i < GROUPS; ++i, weights += stride) {
            const __m256i fours = _mm256_set1_epi32(four(inputs + 4 * i));
            low_pairs = _mm256_add_epi16(low_pairs, _mm256_maddubs_epi16(fours, load256(weights)));
            high_pairs = _mm256_add_epi16(high_pairs, _mm256_maddubs_epi16(fours, load256(weights + 32)));
        }
        low = _mm256_add_epi32(low, _mm256_madd_epi16(low_pairs, _mm256_set1_epi16(1)));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(high_pairs, _mm256_set1_epi16(1)));
#endif
    }
    void store(std::int32_t* target) const { store256(target, low), store256(target + 8, high); }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        const __m256i words = _mm256_packs_epi32(_mm256_srai_epi32(low, SHIFT), _mm256_srai_epi32(high, SHIFT));
        const __m256i ordered = _mm256_permute4x64_epi64(words, 0b11011000);
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm_max_epi8(bytes, _mm_setzero_si128()));
    }
};

#elif defined(__SSE4_1__)
inline constexpr const char* KERNEL = "SSE4.1";
inline constexpr int TILE = 3, BLOCKS = 2, MOST_TOGETHER = 4;

inline __m128i load128(const void* source) { return _mm_loadu_si128(static_cast<const __m128i*>(source)); }
inline void store128(void* target, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(target), value); }

struct Lanes {
    __m128i part[4];

    void load(const std::int16_t* source) {
        for (int i = 0; i < 4; ++i) part[i] = load128(source + 8 * i);
    }
    void add(const std::int16_t* row) {
        for (int i = 0; i < 4; ++i) part[i] = _mm_add_epi16(part[i], load128(row + 8 * i));
    }
    void subtract(const std::int16_t* row) {
        for (int i = 0; i < 4; ++i) part[i] = _mm_sub_epi16(part[i], load128(row + 8 * i));
    }
    void store(std::int16_t* target) const {
        for (int i = 0; i < 4; ++i) store128(target + 8 * i, part[i]);
    }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        for (int i = 0; i < 4; i += 2) {  // packing saturates to -128..127
            const __m128i bytes = _mm_packs_epi16(_mm_srai_epi16(part[i], SHIFT), _mm_srai_epi16(part[i + 1], SHIFT));
            store128(target + 8 * i, _mm_max_epi8(bytes, _mm_setzero_si128()));
        }
    }
};

struct Block {
    __m128i part[4] = {};

    void load(const std::int32_t* source) {
        for (int i = 0; i < 4; ++i) part[i] = load128(source + 4 * i);
    }
    void add(const Block& other) {
        for (int i = 0; i < 4; ++i) part[i] = _mm_add_epi32(part[i], other.part[i]);
    }
    template <int GROUPS>
    void dot(const std::uint8_t* inputs, const std::int8_t* weights, int stride) {
        __m128i pairs[4] = {};
        for (int group = 0; group < GROUPS; ++group, weights += stride) {
            const __m128i fours = _mm_set1_epi32(four(inputs + 4 * group));
            for (int i = 0; i < 4; ++i)
                pairs[i] = _mm_add_epi16(pairs[i], _mm_maddubs_epi16(fours, load128(weights + 16 * i)));
        }
        for (int i = 0; i < 4; ++i) part[i] = _mm_add_epi32(part[i], _mm_madd_epi16(pairs[i], _mm_set1_epi16(1)));
    }
    void store(std::int32_t* target) const {
        for (int i = 0; i < 4; ++i) store128(target + 4 * i, part[i]);
    }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        const __m128i low = _mm_packs_epi32(_mm_srai_epi32(part[0], SHIFT), _mm_srai_epi32(part[1], SHIFT));
        const __m128i high = _mm_packs_epi32(_mm_srai_epi32(part[2], SHIFT), _mm_srai_epi32(part[3], SHIFT));
        store128(target, _mm_max_epi8(_mm_packs_epi16(low, high), _mm_setzero_si128()));
    }
};

#elif defined(__aarch64__) && defined(__ARM_NEON)
inline constexpr const char* KERNEL = "NEON";
inline constexpr int TILE = 6, BLOCKS = 2, MOST_TOGETHER = 1;

struct Lanes {
    int16x8_t part[4];

    void load(const std::int16_t* source) {
        for (int i = 0; i < 4; ++i) part[i] = vld1q_s16(source + 8 * i);
    }
    void add(const std::int16_t* row) {
        for (int i = 0; i < 4; ++i) part[i] = vaddq_s16(part[i], vld1q_s16(row + 8 * i));
    }
    void subtract(const std::int16_t* row) {
        for (int i = 0; i < 4; ++i) part[i] = vsubq_s16(part[i], vld1q_s16(row + 8 * i));
    }
    void store(std::int16_t* target) const {
        for (int i = 0; i < 4; ++i) vst1q_s16(target + 8 * i, part[i]);
    }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        for (int i = 0; i < 4; ++i) {  // narrowing saturates to -128..127
            const int8x8_t bytes = vqmovn_s16(vshlq_s16(part[i], vdupq_n_s16(-SHIFT)));
            vst1_u8(target + 8 * i, vreinterpret_u8_s8(vmax_s8(bytes, vdup_n_s8(0))));
        }
    }
};

struct Block {
    int32x4_t part[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};

    void load(const std::int32_t* source) {
        for (int i = 0; i < 4; ++i) part[i] = vld1q_s32(source + 4 * i);
    }
    void add(const Block& other) {
        for (int i = 0; i < 4; ++i) part[i] = vaddq_s32(part[i], other.part[i]);
    }
    template <int GROUPS>
    void dot(const std::uint8_t* inputs, const std::int8_t* weights, int stride) {
        for (int group = 0; group < GROUPS; ++group, weights += stride) {
            // At most 127: signed will do.
            const int8x16_t fours = vreinterpretq_s8_s32(vdupq_n_s32(four(inputs + 4 * group)));
            for (int i = 0; i < 4; ++i) {
                const int8x16_t weight = vld1q_s8(weights + 16 * i);
#if defined(__ARM_FEATURE_DOTPROD)
                part[i] = vdotq_s32(part[i], fours, weight);
#else
                const int16x8_t low = vmull_s8(vget_low_s8(fours), vget_low_s8(weight));
                const int16x8_t high = vmull_high_s8(fours, weight);
                part[i] = vpadalq_s16(part[i], vpaddq_s16(low, high));
#endif
            }
        }
    }
    void store(std::int32_t* target) const {
        for (int i = 0; i < 4; ++i) vst1q_s32(target + 4 * i, part[i]);
    }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        int16x4_t words[4];
        for (int i = 0; i < 4; ++i) words[i] = vqmovn_s32(vshlq_s32(part[i], vdupq_n_s32(-SHIFT)));
        for (int i = 0; i < 4; i += 2) {
            const int8x8_t bytes = vqmovn_s16(vcombine_s16(words[i], words[i + 1]));
            vst1_u8(target + 4 * i, vreinterpret_u8_s8(vmax_s8(bytes, vdup_n_s8(0))));
        }
    }
};

#else
inline constexpr const char* KERNEL = "plain";
inline constexpr int TILE = 1, BLOCKS = 1, MOST_TOGETHER = 1;

struct Lanes {
    std::uint16_t lane[LANES];  // unsigned numbers wrap

    void load(const std::int16_t* source) { std::memcpy(lane, source, sizeof lane); }
    void add(const std::int16_t* row) {
        for (int i = 0; i < LANES; ++i) lane[i] = static_cast<std::uint16_t>(lane[i] + row[i]);
    }
    void subtract(const std::int16_t* row) {
        for (int i = 0; i < LANES; ++i) lane[i] = static_cast<std::uint16_t>(lane[i] - row[i]);
    }
    void store(std::int16_t* target) const { std::memcpy(target, lane, sizeof lane); }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        for (int i = 0; i < LANES; ++i) {
            const int shifted = static_cast<std::int16_t>(lane[i]) >> SHIFT;
            target[i] = static_cast<std::uint8_t>(std::clamp(shifted, 0, ACTIVATION_LIMIT));
        }
    }
};

struct Block {
    std::uint32_t sum[OUTPUT_BLOCK] = {};

    void load(const std::int32_t* source) { std::memcpy(sum, source, sizeof sum); }
    void add(const Block& other) {
        for (int i = 0; i < OUTPUT_BLOCK; ++i) sum[i] += other.sum[i];
    }
    template <int GROUPS>
    void dot(const std::uint8_t* inputs, const std::int8_t* weights, int stride) {
        for (int group = 0; group < GROUPS; ++group, inputs += 4, weights += stride)
            for (int i = 0; i < OUTPUT_BLOCK; ++i)
                for (int j = 0; j < 4; ++j) sum[i] += static_cast<std::uint32_t>(inputs[j] * weights[4 * i + j]);
    }
    void store(std::int32_t* target) const { std::memcpy(target, sum, sizeof sum); }
    template <int SHIFT>
    void activate(std::uint8_t* target) const {
        for (int i = 0; i < OUTPUT_BLOCK; ++i) {
            const int shifted = static_cast<std::int32_t>(sum[i]) >> SHIFT;
            target[i] = static_cast<std::uint8_t>(std::clamp(shifted, 0, ACTIVATION_LIMIT));
        }
    }
};
#endif
