#include "simulation/cpu/core/predictor.h"

#include <algorithm>

namespace orrery::pipeline {

namespace {

constexpr std::array<int, 4> historyLengths{6, 18, 54, 160};
constexpr int taggedBits = 10, tagBits = 11;

template <class Counter>
void steer(Counter& counter, bool up, int least, int most) {
    if (up && counter < most) ++counter;
    if (!up && counter > least) --counter;
}

}  // namespace

Predictor::Predictor(PredictorKind kind, int bits) : kind_(kind), bits_(bits) {
    if (kind == PredictorKind::Gshare || kind == PredictorKind::Tage) base_.assign(std::size_t{1} << bits, 0);
    if (kind == PredictorKind::Tage) {
        for (auto& table : tagged_) table.assign(std::size_t{1} << taggedBits, {});
    }
}

// The newest `length` outcomes, xor-ed together in words of `bits`.
std::uint32_t Predictor::folded(int length, int bits) const {
    std::uint32_t result = 0;
    std::size_t word = 0;
    for (int left = length; left > 0; left -= 64, ++word) {
        std::uint64_t part = past_[word];
        if (left < 64) part &= (1ull << left) - 1;
        while (part != 0) {
            result ^= static_cast<std::uint32_t>(part & ((1u << bits) - 1));
            part >>= bits;
        }
    }
    return result;
}

void Predictor::push(bool taken) {
    for (std::size_t i = past_.size() - 1; i > 0; --i) past_[i] = past_[i] << 1 | past_[i - 1] >> 63;
    past_[0] = past_[0] << 1 | static_cast<std::uint64_t>(taken);
}

bool Predictor::tage(std::uint32_t branch, bool taken) {
    const std::uint32_t hash = branch * 0x9E3779B1u >> 7;
    std::array<Entry*, tables> rows{};
    std::array<std::uint16_t, tables> tags{};
    int provider = -1, other = -1;
    for (std::size_t t = 0; t < tables; ++t) {
        const std::uint32_t fold = folded(historyLengths[t], taggedBits);
        const std::uint32_t tag = folded(historyLengths[t], tagBits);
        rows[t] = &tagged_[t][(hash ^ hash >> (t + 3) ^ fold) & ((1u << taggedBits) - 1)];
        tags[t] = static_cast<std::uint16_t>((hash >> 2 ^ tag ^ tag << 1) & ((1u << tagBits) - 1));
        if (tags[t] == 0) tags[t] = 1;
        if (rows[t]->tag == tags[t]) {
            other = provider;
            provider = static_cast<int>(t);
        }
    }
    std::int8_t& base = base_[hash & ((1u << bits_) - 1)];
    const auto says = [&](int t) { return t < 0 ? base >= 0 : rows[static_cast<std::size_t>(t)]->counter >= 0; };
    const bool guess = says(provider), alternative = says(other);
    const bool right = guess == taken;
    if (provider < 0) {
        steer(base, taken, -2, 1);
    } else {
        Entry& row = *rows[static_cast<std::size_t>(provider)];
        steer(row.counter, taken, -4, 3);
        if (guess != alternative) steer(row.useful, right, 0, 3);
        if (row.useful == 0) steer(base, taken, -2, 1);
    }
    if (!right && provider < static_cast<int>(tables) - 1) {
        bool placed = false;
        for (std::size_t t = static_cast<std::size_t>(provider + 1); t < tables && !placed; ++t) {
            if (rows[t]->useful != 0) continue;
            *rows[t] = {tags[t], static_cast<std::int8_t>(taken ? 0 : -1), 0};
            placed = true;
        }
        for (std::size_t t = static_cast<std::size_t>(provider + 1); t < tables && !placed; ++t) --rows[t]->useful;
    }
    if ((++tick_ & 0x3FFFF) == 0) {
        for (auto& table : tagged_) {
            for (Entry& row : table) row.useful /= 2;
        }
    }
    push(taken);
    return right;
}

bool Predictor::foretells(std::uint32_t branch, bool taken) {
    switch (kind_) {
        case PredictorKind::Perfect:
            return true;
        case PredictorKind::Taken:
            return taken;
        case PredictorKind::Gshare: {
            const std::uint32_t mask = (1u << bits_) - 1;
            std::int8_t& counter = base_[((branch * 0x9E3779B1u >> 7) ^ history_) & mask];
            const bool right = (counter >= 0) == taken;
            steer(counter, taken, -2, 1);
            history_ = (history_ << 1 | static_cast<std::uint32_t>(taken)) & mask;
            return right;
        }
        case PredictorKind::Tage:
            break;
    }
    return tage(branch, taken);
}

}  // namespace orrery::pipeline
