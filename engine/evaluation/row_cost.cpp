// What the answers of a RowPricer cost.

#include "evaluation/answer_clock.h"
#include "evaluation/row_pricer.h"

#include <algorithm>
#include <set>

namespace orrery {

namespace {

constexpr double longForAClock = 50e-6;  // seconds, of which reading the clock is some per cent
constexpr int repeatedTogether = 3;

}  // namespace

// Of the kernels that were clocked when they were asked: a refusal is no answer, nor is a kernel that an equal one
// went before, for it may be remembered. What was too short for the clock is clocked together with others.
void RowPricer::clockKernels(const Asking& asking, const std::vector<std::size_t>& numbers) {
    std::vector<std::size_t> counted;
    std::set<std::uint64_t> known;
    const auto count = [&](std::size_t number) {
        const bool counts = answers_[number].given() && known.insert(kernelIdentity(kernel(number))).second;
        if (counts) counted.push_back(number);
        return counts;
    };
    for (const std::size_t number : numbers) {
        if (answers_[number].cost > 0 && !count(number)) answers_[number].cost = 0;
    }
    // All that were clocked may have been refused.
    for (const std::size_t number : numbers) {
        if (counted.size() >= clockedRows) break;
        if (answers_[number].cost == 0) count(number);
    }
    std::vector<std::size_t> brief;
    for (const std::size_t number : counted)
        if (answers_[number].cost < longForAClock) brief.push_back(number);
    // The first of a device also fills what its other kernels share.
    if (counted.size() > 1 && answers_[counted.front()].cost >= longForAClock) answers_[counted.front()].cost = 0;
    if (!brief.empty()) clockTogether(asking, brief);
}

// Kernels that a pricing has not met, after one that warms it up.
void RowPricer::clockTogether(const Asking& asking, std::span<const std::size_t> brief) {
    std::vector<std::size_t> ends{std::min<std::size_t>(1, brief.size() - 1)};
    double together = 0;
    for (std::size_t i = ends.front(); i < brief.size(); ++i) {
        together += answers_[brief[i]].cost;
        if (together < longForAClock && i + 1 < brief.size()) continue;
        ends.push_back(i + 1);
        together = 0;
    }
    std::vector<std::array<double, repeatedTogether>> spent(ends.size() - 1);
    for (int r = 0; r < repeatedTogether; ++r) {
        auto pricing = asking.fresh();
        if (!pricing) return;
        (*pricing)(brief.first(ends.front()), answers_);
        for (std::size_t c = 0; c + 1 < ends.size(); ++c) {
            const auto part = brief.subspan(ends[c], ends[c + 1] - ends[c]);
            const double all = clocked([&] { (*pricing)(part, answers_); });
            spent[c][static_cast<std::size_t>(r)] = all / static_cast<double>(part.size());
        }
    }
    for (const std::size_t number : brief.first(ends.front())) answers_[number].cost = 0;
    for (std::size_t c = 0; c < spent.size(); ++c) {
        std::sort(spent[c].begin(), spent[c].end());
        for (std::size_t i = ends[c]; i < ends[c + 1]; ++i) answers_[brief[i]].cost = spent[c][repeatedTogether / 2];
    }
}

// Quartiles over the answers to kernels, or to models where no kernel was answered.
std::array<double, 3> RowPricer::costs() const {
    std::vector<double> kernels, models;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const RowAnswer& answer = answers_[i];
        if (answer.given() && answer.cost > 0) (model(i) ? models : kernels).push_back(answer.cost);
    }
    std::vector<double>& spent = kernels.empty() ? models : kernels;
    std::sort(spent.begin(), spent.end());
    const auto quantile = [&](double share) {
        return spent.empty() ? 0.0 : spent[static_cast<std::size_t>(share * static_cast<double>(spent.size() - 1))];
    };
    return {quantile(0.25), quantile(0.5), quantile(0.75)};
}

}  // namespace orrery
