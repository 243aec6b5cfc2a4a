#pragma once

// The controller of Ramulator 2.1 written down once more, as plainly as it can be: every cycle, every waiting request,
// every rule. A slow twin of RuledDramController, with which it shares the rules and the address map alone.

#include "simulation/dram/ruled/ruled_run.h"

#include <deque>
#include <map>
#include <optional>

namespace orrery::dramtest {

class PlainDram {
public:
    PlainDram(const DramRules& rules, bool refresh) : rules_(rules) {
        levels_ = rules.bankLevel() + 1;
        for (int l = 0, nodes = 1; l < levels_; ++l)
            nodes_.push_back(nodes *= static_cast<int>(rules.count[std::size_t(l)]));
        issued_.resize(std::size_t(levels_));
        row_.assign(std::size_t(nodes_.back()), -1);
        // All banks of a rank are refreshed at once; without ranks those of a pseudo-channel, without either all.
        for (const char* all : {"PseudoChannel", "Rank"})
            for (int l = 0; l < levels_; ++l)
                if (rules.levels[std::size_t(l)] == all) whole_ = l;
        half_ = rules.controller == RuledController::HalfClock;
        clocked_ = rules.controller == RuledController::WriteClock;
        interval_ = refresh ? rules.timingOf(half_ ? "nREFIpb" : "nREFI") : 0;
        act_ = rules.commandOf(rules.commandOf("ACT") < 0 ? "ACT1" : "ACT");
        pre_ = rules.commandOf(rules.commandOf("PREpb") < 0 ? "PRE" : "PREpb");
        preAll_ = rules.commandOf(rules.commandOf("PREab") < 0 ? "PREA" : "PREab");
        read_ = rules.commandOf("RD"), write_ = rules.commandOf("WR");
        closes_ = rules.page == RuledPage::Closed;
    }

    /// The cycle in which each request was done.
    std::vector<std::int64_t> run(const std::vector<DramTraceRequest>& trace, const RuledAddressMap& map,
                                  std::int64_t every) {
        done_.assign(trace.size(), -1);
        std::size_t next = 0;
        // To the last beat: a refresh may be due before it.
        for (std::int64_t from = 0;
             next < trace.size() || !reads_.empty() || !writes_.empty() || !active_.empty() || clock_ < lastBeat_;) {
            if (next < trace.size() && clock_ >= from &&
                offer(next, trace[next].write, map.place(trace[next].address))) {
                accepted_.push_back(clock_);
                ++next, from = clock_ + every;
            }
            tick();
        }
        return done_;
    }
    const std::vector<std::int64_t>& accepted() const { return accepted_; }
    /// Of all commands that a standard calls by one of these names.
    std::int64_t sent(std::initializer_list<const char*> names) const {
        std::int64_t sum = 0;
        for (const char* name : names)
            if (const auto found = sent_.find(rules_.commandOf(name)); found != sent_.end()) sum += found->second;
        return sum;
    }
    std::int64_t sent() const {
        std::int64_t sum = 0;
        for (const auto& [command, times] : sent_) sum += times;
        return sum;
    }
    std::int64_t hits = 0, misses = 0, conflicts = 0, forwarded = 0, merged = 0;

private:
    struct Request {
        std::size_t id;
        bool write;
        RuledPlace place;
        bool counted = false;
    };
    using Queue = std::vector<Request>;  // in order of arrival

    int nodeOf(int level, int bank) const { return bank / (nodes_.back() / nodes_[std::size_t(level)]); }
    static bool isSame(const RuledPlace& a, const RuledPlace& b) {
        return a.bank == b.bank && a.row == b.row && a.column == b.column;
    }
    bool offer(std::size_t id, bool write, const RuledPlace& place) {
        for (const Request& w : writes_)
            if (isSame(w.place, place)) {
                ++(write ? merged : forwarded);
                done_[id] = write ? clock_ : clock_ + 1;
                return true;
            }
        Queue& queue = write ? writes_ : reads_;
        if (int(queue.size()) == (write ? rules_.writeBuffer : rules_.readBuffer)) return false;
        queue.push_back({id, write, place});
        return true;
    }

    // Commands with all banks of a node act on the node and on all below.
    bool isWhole(int command) const { return command == preAll_ || command == rules_.commandOf("REFab"); }
    void send(int command, int bank) {
        const int scope = isWhole(command) ? whole_ : levels_ - 1;
        for (int l = 0; l < levels_; ++l) {
            const int nodes = l > scope ? nodes_[std::size_t(l)] / nodes_[std::size_t(scope)] : 1;
            for (int n = nodeOf(l, bank); n < nodeOf(l, bank) + nodes; ++n) {
                auto& times = issued_[std::size_t(l)][{command, n}];
                times.push_front(clock_);
                if (times.size() > 8) times.pop_back();
            }
        }
        ++sent_[command];
        busy_ = true;
    }
    bool mayIssue(int command, int bank) const {
        if (half_ && clock_ % 2 == 0 && command != pre_ && command != preAll_) return false;
        const int scope = isWhole(command) ? whole_ : levels_ - 1;
        for (const DramRule& rule : rules_.rules) {
            if (std::ranges::count(rule.after, command) == 0 || rule.level > scope) continue;
            const int own = nodeOf(rule.level, bank);
            const int beside = rule.sibling ? static_cast<int>(rules_.count[std::size_t(rule.level)]) : 1;
            const int first = own / beside * beside;
            for (int n = first; n < first + beside; ++n) {
                if (rule.sibling && n == own) continue;
                for (const int before : rule.before) {
                    const auto found = issued_[std::size_t(rule.level)].find({before, n});
                    if (found == issued_[std::size_t(rule.level)].end()) continue;
                    const auto& times = found->second;
                    if (int(times.size()) >= rule.window && times[std::size_t(rule.window - 1)] + rule.cycles > clock_)
                        return false;
                }
            }
        }
        return true;
    }

    int wanted(const Request& r) const {
        const auto open = row_[std::size_t(r.place.bank)];
        return open < 0 ? act_ : open != r.place.row ? pre_ : r.write ? write_ : read_;
    }
    bool isActive(int bank) const {
        return std::ranges::any_of(active_, [&](const Request& r) { return r.place.bank == bank; });
    }
    // The first that may have what it wants, of column or row commands.
    std::optional<std::size_t> pick(const Queue& queue, bool columns, bool rows) const {
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const int command = wanted(queue[i]), bank = queue[i].place.bank;
            const bool column = command == read_ || command == write_;
            if (column ? !columns : !rows) continue;
            if (command == pre_ && isActive(bank)) continue;
            if (command == act_ && second_ >= 0) continue;
            if (mayIssue(command, bank)) return i;
        }
        return {};
    }
    void column(Queue& queue, std::size_t i) {
        const Request r = queue[i];
        if (clocked_ && clock_ >= clockedUntil_) {  // the data clock first, then nothing between
            send(rules_.commandOf(r.write ? "CAS_WR" : "CAS_RD"), r.place.bank);
            clockedUntil_ = clock_ + 2;
            synced_ = std::pair{&queue, i};
            return;
        }
        if (clocked_)
            clockedUntil_ = std::max(clockedUntil_, clock_ + rules_.timingOf(r.write ? "nCWL" : "nCL") +
                                                        rules_.timingOf("nBL") + rules_.timingOf("nWCKPST"));
        queue.erase(queue.begin() + std::ptrdiff_t(i));
        const auto wantsItsRow = [&](const Request& other) {
            return other.place.bank == r.place.bank && other.place.row == r.place.row;
        };
        const bool closing = closes_ && std::ranges::none_of(reads_, wantsItsRow) &&
                             std::ranges::none_of(writes_, wantsItsRow) && std::ranges::none_of(active_, wantsItsRow);
        send(closing ? rules_.commandOf(r.write ? "WRA" : "RDA") : r.write ? write_ : read_, r.place.bank);
        if (closing) row_[std::size_t(r.place.bank)] = -1;
        done_[r.id] = r.write ? clock_ : clock_ + rules_.readLatency;
        lastBeat_ = std::max(lastBeat_, done_[r.id]);
    }
    bool serveActive() {
        // In the order in which they arrived, not in which their rows were opened.
        std::ranges::sort(active_, {}, &Request::id);
        const auto i = pick(active_, true, false);
        if (i) column(active_, *i);
        return i.has_value();
    }
    bool serveRefresh() {
        if (refreshes_.empty()) return false;
        const int bank = refreshes_.front();
        const int reach = half_ ? 1 : nodes_.back() / nodes_[std::size_t(whole_)];
        bool open = false, pending = false;
        for (int b = bank; b < bank + reach; ++b) open |= row_[std::size_t(b)] >= 0, pending |= isActive(b);
        const int command = open ? (half_ ? pre_ : preAll_) : rules_.commandOf(half_ ? "REFpb" : "REFab");
        if ((open && pending) || !mayIssue(command, bank)) return true;
        send(command, bank);
        for (int b = bank; b < bank + reach; ++b) row_[std::size_t(b)] = -1;
        if (!open) refreshes_.pop_front();
        return true;
    }
    void serveBuffers(bool columns, bool rows) {
        const auto waiting = static_cast<double>(writes_.size());
        if (writing_)
            writing_ = waiting >= rules_.drainBelow * rules_.writeBuffer || reads_.empty();
        else
            writing_ = waiting > rules_.drainAbove * rules_.writeBuffer || reads_.empty();
        Queue& queue = writing_ ? writes_ : reads_;
        const auto i = pick(queue, columns, rows);
        if (!i) return;
        const int command = wanted(queue[*i]), bank = queue[*i].place.bank;
        if (!queue[*i].counted) ++(command == act_ ? misses : command == pre_ ? conflicts : hits);
        queue[*i].counted = true;
        if (command != act_ && command != pre_) return column(queue, *i);
        send(command, bank);
        row_[std::size_t(bank)] = command == act_ ? queue[*i].place.row : -1;
        if (command == pre_) return;
        if (clocked_) second_ = bank, secondBy_ = clock_ + rules_.timingOf("nAAD");
        active_.push_back(queue[*i]);
        queue.erase(queue.begin() + std::ptrdiff_t(*i));
    }
    void sendSecond() {
        send(rules_.commandOf("ACT2"), second_);
        second_ = -1;
    }
    void tick() {
        ++clock_;
        busy_ = false;
        if (interval_ > 0 && clock_ % interval_ == 0) {
            const int banks = nodes_.back();
            const int step = half_ ? banks / nodes_[1] : banks / nodes_[std::size_t(whole_)];
            for (int b = half_ ? turn_ : 0; b < banks; b += step) refreshes_.push_back(b);
            turn_ = half_ ? (turn_ + 1) % step : 0;
        }
        if (second_ >= 0 && clock_ >= secondBy_) return sendSecond();
        if (synced_) {
            const auto [queue, i] = *synced_;
            synced_.reset();
            return column(*queue, i);
        }
        if (half_ || rules_.controller == RuledController::SplitBus) {
            const bool refreshing = !refreshes_.empty();
            if (!serveActive() && !refreshing) serveBuffers(true, false);
            if (!serveRefresh()) serveBuffers(false, true);
            return;
        }
        if (!serveActive() && !serveRefresh()) serveBuffers(true, true);
        if (!busy_ && second_ >= 0) sendSecond();
    }

    const DramRules& rules_;
    int levels_ = 0, whole_ = 0, act_ = 0, pre_ = 0, preAll_ = 0, read_ = 0, write_ = 0, turn_ = 0, second_ = -1;
    bool half_ = false, clocked_ = false, closes_ = false, writing_ = false, busy_ = false;
    std::vector<int> nodes_;  // of each level
    std::vector<std::map<std::pair<int, int>, std::deque<std::int64_t>>>
        issued_;  // [level][command, node], newest first
    std::map<int, std::int64_t> sent_;
    std::vector<std::int64_t> row_, done_, accepted_;
    Queue reads_, writes_, active_;
    std::deque<int> refreshes_;
    std::optional<std::pair<Queue*, std::size_t>> synced_;
    std::int64_t clock_ = 0, lastBeat_ = 0, interval_ = 0, clockedUntil_ = -1, secondBy_ = 0;
};

}  // namespace orrery::dramtest
