#pragma once

// The constraint state of one channel: from which cycle each command is allowed at each bank, and which rule said so.
// Rules of a bank alone stand per bank, with a calendar of when they let go. All others are one row of times per
// command, a time per lane (`DramRuleTables`); a command raises such a row by a row of distances, all lanes at once.

#include "simulation/dram/ruled/bank_calendar.h"

#include <cstring>

namespace orrery {

/// `Lanes`: of the tables, of one word of banks; 0: any number of lanes and words.
template <int Lanes>
class DramRuleState {
public:
    using Calendar = DramBankCalendar<Lanes>;
    using Wanted = typename Calendar::Wanted;
    static constexpr std::int64_t never = DramRuleTables::never;
    static constexpr int mostBanks = Lanes == 0 ? 0 : 64;
    static constexpr int mostWords = Lanes == 0 ? 0 : 1;

    explicit DramRuleState(const DramRules& rules) : tables_(rules), calendar_(tables_.words) {
        if constexpr (Lanes == 0) {
            banksFrom_.resize(banks() * hot);
            lanesFrom_.resize(tables_.lanes * hot);
            laneBanks_.resize(tables_.lanes);
            laneOf_.resize(banks());
            last_.resize(banks() * ruledCommands);
        }
        std::ranges::copy(tables_.laneOf, laneOf_.begin());
        std::ranges::copy(tables_.laneBanks, laneBanks_.begin());
        std::ranges::fill(last_, -never);
    }

    /// The earliest cycle of a command to this bank, or to the node above it that the command reaches.
    std::int64_t earliest(RuledCommand command, int bank) const {
        const auto c = static_cast<std::size_t>(command);
        return c < hot ? stampOf(c, bank) >> shift : earliestRare(c, bank);
    }
    /// The same of an activate, precharge, read or write, with the rule that sets it; -1: none. Of rules that let go in
    /// the same cycle the first of the file.
    std::int64_t earliest(RuledCommand command, int bank, std::int32_t& rule) const {
        const std::int64_t stamp = stampOf(static_cast<std::size_t>(command), bank);
        const std::int64_t code = stamp & (scale - 1);
        rule = code == 0 ? -1 : static_cast<std::int32_t>(scale - 1 - code);
        return stamp >> shift;
    }
    bool isAfterActivate(int rule) const { return tables_.after[static_cast<std::size_t>(rule)] & 1; }
    bool isAfterPrecharge(int rule) const { return tables_.after[static_cast<std::size_t>(rule)] & 2; }

    std::size_t banks() const { return static_cast<std::size_t>(tables_.banks); }
    /// Banks that a command to this bank reaches: [first, first + count).
    int reachOf(RuledCommand command) const { return tables_.reach[static_cast<std::size_t>(command)]; }
    /// Banks stand in words of at most 64.
    int words() const { return Lanes > 0 ? 1 : tables_.words; }
    int wordOf(int bank) const { return Lanes > 0 ? 0 : bank / 64; }
    static int firstOf(int word) { return Lanes > 0 ? 0 : word * 64; }
    static std::uint64_t bitOf(int bank) { return std::uint64_t{1} << (bank & 63); }

    /// To the cycle at which commands are asked for and issued; never back.
    void advance(std::int64_t clock) {
        limit_ = static_cast<double>((clock + 1) * scale - 1);
        calendar_.advance(clock);
    }
    /// Which of these banks may take the command (one to a single bank) now.
    std::uint64_t allowedAmong(RuledCommand command, int word, std::uint64_t banks) const {
        const auto c = static_cast<std::size_t>(command);
        banks &= ~calendar_.held(c, word);
        return banks == 0 ? 0 : banks & openLanes(c, word);
    }
    /// The first cycle after the clock in which one of the commands wanted (by word) is allowed, or an earlier one in
    /// which to ask again. `odd`: all but precharges begin in odd cycles.
    [[gnu::always_inline]] std::int64_t next(const Wanted* wanted, std::int64_t clock, bool odd) const {
        constexpr auto closing = static_cast<std::size_t>(RuledCommand::Precharge);
        double least[2] = {DramRuleTables::none, DramRuleTables::none};  // others, precharges
        for (int w = 0; w < words(); ++w)
            for (std::size_t c = 0; c < hot; ++c) {
                const std::uint64_t banks = wanted[w][c] & ~calendar_.held(c, w);
                double& its = least[c == closing];
                if (banks != 0) its = std::min(its, leastOf(c, w, banks));
            }
        std::int64_t bound = never;
        if (least[1] < DramRuleTables::none) bound = DramRuleTables::cycleOf(least[1]);
        if (least[0] < DramRuleTables::none) {
            const std::int64_t at = DramRuleTables::cycleOf(least[0]);
            bound = std::min(bound, odd ? std::max(at, clock + 1) | 1 : at);
        }
        // What is let go later may have to wait for its lane still.
        bound = std::min(bound, calendar_.farFrom());
        const std::int64_t end = calendar_.end();
        for (std::int64_t at = calendar_.first(); at < std::min(bound, end); at = calendar_.after(at))
            for (int w = 0; w < words(); ++w)
                for (std::size_t c = 0; c < hot; ++c) {
                    const std::uint64_t banks = calendar_.day(at, w)[c] & wanted[w][c];
                    if (banks == 0) continue;
                    const std::int64_t its = std::max(at, DramRuleTables::cycleOf(leastOf(c, w, banks)));
                    bound = std::min(bound, odd && c != closing ? its | 1 : its);
                }
        return bound;
    }

    void issue(RuledCommand command, int bank, std::int64_t at) {
        const auto c = static_cast<std::size_t>(command);
        const std::int64_t now = at * scale;
        const DramRuleTables::Raises& raises = tables_.raises[c];
        last_[c * bankStride() + static_cast<std::size_t>(bank)] = at;
        if (!raises.simple) return issueWide(c, bank, now);
        const std::size_t lane = laneOf_[static_cast<std::size_t>(bank)];
        for (const auto& e : raises.lanes) raiseLanes(e, lane, now);
        for (const auto& e : raises.windows) raiseWindow(e, bank, now);
        for (const auto& e : raises.banks) raiseBank(e.after, bank, now + e.stamp);
    }

private:
    static constexpr std::size_t hot = DramRuleTables::hot;
    static constexpr int shift = DramRuleTables::shift;
    static constexpr std::int64_t scale = DramRuleTables::scale;
    using Two = double __attribute__((vector_size(16)));
    using Bits = std::int64_t __attribute__((vector_size(16)));
    using Halves = std::int32_t __attribute__((vector_size(16)));

    template <class T, class From>
    static T load(const From* from) {
        T two;
        std::memcpy(&two, from, sizeof two);
        return two;
    }
    std::size_t laneStride() const { return Lanes > 0 ? Lanes : tables_.lanes; }
    std::size_t wordLanes() const { return Lanes > 0 ? Lanes : tables_.wordLanes; }
    std::size_t bankStride() const { return Lanes > 0 ? mostBanks : banks(); }
    double ofLane(std::size_t command, int bank) const {
        return lanesFrom_[command * laneStride() + laneOf_[static_cast<std::size_t>(bank)]];
    }
    std::int64_t stampOf(std::size_t command, int bank) const {
        return std::max(banksFrom_[command * bankStride() + static_cast<std::size_t>(bank)],
                        static_cast<std::int64_t>(ofLane(command, bank)));
    }
    std::uint64_t openLanes(std::size_t command, int word) const {
        const std::size_t first = static_cast<std::size_t>(word) * wordLanes();
        const double* times = lanesFrom_.data() + command * laneStride() + first;
        const Two limit{limit_, limit_};
        Bits open{};
        for (std::size_t i = 0; i < wordLanes(); i += 2)
            open |= (load<Two>(times + i) <= limit) & load<Bits>(laneBanks_.data() + first + i);
        return static_cast<std::uint64_t>(open[0] | open[1]);
    }
    // The least time of the lanes that have one of the banks. Without branches: which lanes have is not to be guessed.
    double leastOf(std::size_t command, int word, std::uint64_t banks) const {
        if ((banks & (banks - 1)) == 0) return ofLane(command, firstOf(word) + std::countr_zero(banks));
        const std::size_t first = static_cast<std::size_t>(word) * wordLanes();
        const double* times = lanesFrom_.data() + command * laneStride() + first;
        const auto its = static_cast<std::int64_t>(banks);
        const Bits among{its, its};
        Two least{DramRuleTables::none, DramRuleTables::none};
        for (std::size_t i = 0; i < wordLanes(); i += 2) {
            const Halves halves = reinterpret_cast<Halves>(load<Bits>(laneBanks_.data() + first + i) & among) == 0;
            const Halves hasNot = halves & __builtin_shufflevector(halves, halves, 1, 0, 3, 2);
            // All bits set are no number, and less than nothing.
            const Two at = reinterpret_cast<Two>(reinterpret_cast<Halves>(load<Two>(times + i)) | hasNot);
            least = at < least ? at : least;
        }
        return std::min(least[0], least[1]);
    }
    [[gnu::always_inline]] void raiseLanes(const DramRuleTables::LaneRaise& e, std::size_t lane, std::int64_t from) {
        double* times = lanesFrom_.data() + e.after * laneStride();
        const double* distances = tables_.distances.data() + e.row + lane * laneStride();
        const std::size_t lanes = laneStride();
        const auto since = static_cast<double>(from);
        const Two now{since, since};
        for (std::size_t i = 0; i < lanes; i += 2) {
            const Two to = now + load<Two>(distances + i), was = load<Two>(times + i), is = to > was ? to : was;
            std::memcpy(times + i, &is, sizeof is);
        }
    }
    [[gnu::always_inline]] void raiseBank(std::size_t after, int bank, std::int64_t to) {
        std::int64_t& its = banksFrom_[after * bankStride() + static_cast<std::size_t>(bank)];
        if (to <= its) return;
        calendar_.hold(after, wordOf(bank), bitOf(bank), its >> shift, to >> shift);
        its = to;
    }
    // The new one goes in; the rule counts from the oldest of the window.
    void raiseWindow(const DramRuleTables::Window& e, int bank, std::int64_t now) {
        std::int64_t* ring = tables_.history.data() + tables_.ringOf[e.rings + static_cast<std::size_t>(bank)];
        const auto slot = static_cast<int>(ring[e.window]);
        const int oldest = slot + 1 == e.window ? 0 : slot + 1;
        ring[slot] = now;
        ring[e.window] = oldest;
        raiseLanes(e.lanes, laneOf_[static_cast<std::size_t>(bank)], ring[oldest]);
        if (e.level == tables_.bankLevel) raiseBank(e.lanes.after, bank, ring[oldest] + e.stamp);
    }

    [[gnu::noinline]] std::int64_t earliestRare(std::size_t command, int bank) const {
        std::int64_t at = 0;
        for (const auto& e : tables_.rare[command]) {
            if (e.window > 1) {
                const std::int64_t* ring =
                    tables_.history.data() + tables_.ringOf[e.rings + static_cast<std::size_t>(bank)];
                at = std::max(at, (ring[ring[e.window]] >> shift) + e.cycles);
                continue;
            }
            const int size = tables_.nodeBanks[static_cast<std::size_t>(e.level)];
            const int reach = e.sibling ? tables_.parentBanks(e.level) : size, first = bank / reach * reach;
            const std::int64_t* last = last_.data() + e.before * bankStride();
            for (int b = first; b < first + reach; ++b)
                if (!e.sibling || b / size != bank / size) at = std::max(at, last[b] + e.cycles);
        }
        return at;
    }
    // To many banks, or with an effect on banks beside it.
    [[gnu::noinline]] void issueWide(std::size_t command, int bank, std::int64_t now) {
        const auto& raises = tables_.raises[command];
        const int reach = tables_.reach[command];
        for (const auto& e : raises.lanes) raiseLanes(e, laneOf_[static_cast<std::size_t>(bank)], now);
        for (const auto& e : raises.windows) {
            const int size = tables_.nodeBanks[static_cast<std::size_t>(e.level)];
            for (int b = bank; b < bank + reach; b += size) raiseWindow(e, b, now);
        }
        for (const auto& e : raises.banks)
            for (int b = bank; b < bank + reach; ++b) raiseBank(e.after, b, now + e.stamp);
        const int beside = tables_.parentBanks(tables_.bankLevel), first = bank / beside * beside;
        for (const auto& e : raises.siblings)
            for (int b = first; b < first + beside; ++b)
                if (b != bank) raiseBank(e.after, b, now + e.stamp);
    }

    double limit_ = 0;                                         ///< the largest time that is over
    DramRow<double, Lanes* int{hot}> lanesFrom_{};             ///< [command × lanes + lane]
    DramRow<std::int64_t, Lanes> laneBanks_{};                 ///< [lane], bits of its word
    DramRow<std::int64_t, mostBanks* int{hot}> banksFrom_{};   ///< [command × banks + bank]
    DramRow<std::uint16_t, mostBanks> laneOf_{};               ///< [bank]
    DramRow<std::int64_t, mostBanks * ruledCommands> last_{};  ///< [command × banks + bank]: the cycle of the last one
    DramRuleTables tables_;
    Calendar calendar_;
};

}  // namespace orrery
