#pragma once

// Which banks may not take a command yet because of what happened in themselves, as words of bits, and a calendar of
// the cycles in which they may again. Time goes on from entry to entry; a bank costs nothing while it waits.

#include "simulation/dram/ruled/rule_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace orrery {

/// Lanes as in DramRuleState.
template <int Lanes>
class DramBankCalendar {
public:
    static constexpr std::int64_t never = DramRuleTables::never;
    using Wanted = std::array<std::uint64_t, DramRuleTables::hot>;  ///< banks of a word by command

    explicit DramBankCalendar(int words) : words_(words) {
        if constexpr (Lanes == 0) held_.resize(static_cast<std::size_t>(words));
        if constexpr (Lanes == 0) farBanks_.resize(held_.size());
        if constexpr (Lanes == 0) days_.resize(held_.size() * days);
    }

    std::uint64_t held(std::size_t command, int word) const { return held_[static_cast<std::size_t>(word)][command]; }
    /// `bank` may take the command at `to`; what was said before, an earlier `from`, no longer counts.
    [[gnu::always_inline]] void hold(std::size_t command, int word, std::uint64_t bank, std::int64_t from,
                                     std::int64_t to) {
        if (to <= clock_) return;
        days_[placeOf(from, word)][command] &= ~bank;
        held_[static_cast<std::size_t>(word)][command] |= bank;
        if (to - clock_ >= days || (farBanks_[static_cast<std::size_t>(word)][command] & bank) != 0)
            return holdLong(command, word, bank, to);
        enter(command, word, bank, to);
    }
    void advance(std::int64_t clock) {
        while (next_ <= clock) release(next_);
        clock_ = clock;
        if (clock >= farFrom_) enterFar();
    }
    /// Entries from the clock on: the first, the one after `at`, and which banks are let go then. All of them are
    /// before end().
    std::int64_t first() const { return next_; }
    std::int64_t after(std::int64_t at) const { return entryFrom(at + 1); }
    const Wanted& day(std::int64_t at, int word) const { return days_[placeOf(at, word)]; }
    std::int64_t end() const { return clock_ + days; }
    /// In this cycle the calendar must be asked again.
    std::int64_t farFrom() const { return farFrom_; }

private:
    // Later entries wait in a list of their own.
    static constexpr std::int64_t days = 256;
    struct Far {
        std::int64_t to;
        std::size_t command;
        std::uint64_t bank;
        int word;
    };
    int words() const { return Lanes > 0 ? 1 : words_; }
    std::size_t placeOf(std::int64_t at, int word) const {
        const auto day = static_cast<std::size_t>(at & (days - 1));
        return Lanes > 0 ? day : day * held_.size() + static_cast<std::size_t>(word);
    }
    void enter(std::size_t command, int word, std::uint64_t bank, std::int64_t to) {
        days_[placeOf(to, word)][command] |= bank;
        entered_[static_cast<std::size_t>(to & (days - 1)) / 64] |= std::uint64_t{1} << (to & 63);
        next_ = std::min(next_, to);
    }
    void release(std::int64_t at) {
        for (int w = 0; w < words(); ++w) {
            Wanted &day = days_[placeOf(at, w)], &held = held_[static_cast<std::size_t>(w)];
            for (std::size_t c = 0; c < day.size(); ++c) held[c] &= ~day[c];
            day = {};
        }
        entered_[static_cast<std::size_t>(at & (days - 1)) / 64] &= ~(std::uint64_t{1} << (at & 63));
        next_ = entryFrom(at + 1);
    }
    // The first entry from then on; all are less than `days` after the clock.
    std::int64_t entryFrom(std::int64_t at) const {
        constexpr std::size_t words = days / 64;
        const auto first = static_cast<std::size_t>(at & (days - 1)) / 64;
        if (const std::uint64_t rest = entered_[first] >> (at & 63); rest != 0) return at + std::countr_zero(rest);
        at = (at | 63) + 1;
        for (std::size_t i = 1; i <= words; ++i, at += 64)
            if (const std::uint64_t word = entered_[(first + i) % words]; word != 0) return at + std::countr_zero(word);
        return never;
    }
    [[gnu::noinline]] void holdLong(std::size_t command, int word, std::uint64_t bank, std::int64_t to) {
        std::erase_if(far_, [&](const Far& e) { return e.command == command && e.word == word && e.bank == bank; });
        std::uint64_t& its = farBanks_[static_cast<std::size_t>(word)][command];
        its &= ~bank;
        if (to - clock_ < days) return enter(command, word, bank, to);
        its |= bank;
        far_.push_back({to, command, bank, word});
        farFrom_ = std::min(farFrom_, to - (days - 1));
    }
    [[gnu::noinline]] void enterFar() {
        farFrom_ = never;
        std::erase_if(far_, [&](const Far& e) {
            const bool near = e.to - clock_ < days;
            if (near) {
                farBanks_[static_cast<std::size_t>(e.word)][e.command] &= ~e.bank;
                enter(e.command, e.word, e.bank, e.to);
            } else
                farFrom_ = std::min(farFrom_, e.to - (days - 1));
            return near;
        });
    }

    int words_ = 1;
    std::int64_t clock_ = 0, next_ = never, farFrom_ = never;
    std::array<std::uint64_t, days / 64> entered_{};
    DramRow<Wanted, Lanes == 0 ? 0 : 1> held_{};      ///< [word]
    DramRow<Wanted, Lanes == 0 ? 0 : 1> farBanks_{};  ///< [word]: those of far_
    DramRow<Wanted, Lanes == 0 ? 0 : days> days_{};   ///< [day × words + word]
    std::vector<Far> far_;
};

}  // namespace orrery
