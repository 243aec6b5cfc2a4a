#include "evaluation/repeatability.h"

#include "base/maths.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace orrery {

namespace {

constexpr double meanOfNormal = 0.797885;  // √(2 ÷ π): mean |x| of a normal distribution with σ = 1

// Where bytes are only moved, the type that they are counted in makes no other question: tables hold such transfers
// twice.
std::uint64_t identityOfRepeats(const Kernel& kernel) {
    const bool reduces =
        kernel.collective == CollectiveOp::AllReduce || kernel.collective == CollectiveOp::ReduceScatter;
    if (kernel.kind != KernelKind::Collective || reduces) return kernelIdentity(kernel);
    Kernel plain = kernel;
    plain.type = plain.weightType = plain.kvType = DType::I8;
    return kernelIdentity(plain);
}

// Rows of kernels that stand in the table several times, kernel by kernel.
std::vector<std::vector<std::size_t>> repeatsOf(const ReferenceTable& table) {
    using Key = std::tuple<std::int32_t, std::uint64_t, std::size_t>;
    std::vector<Key> order;
    order.reserve(table.rows.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        order.emplace_back(table.rows[i].device, identityOfRepeats(table.rows[i].kernel), i);
    }
    std::sort(order.begin(), order.end());
    const auto same = [](const Key& a, const Key& b) {
        return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
    };
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i + 1;
        while (end < order.size() && same(order[i], order[end])) ++end;
        if (end - i > 1) {
            all.emplace_back();
            for (std::size_t each = i; each < end; ++each) all.back().push_back(std::get<2>(order[each]));
        }
        i = end;
    }
    return all;
}

struct Floors {
    std::vector<float> rows;
    std::size_t repeated = 0;
    double apart = 0;
};
Floors foundIn(const ReferenceTable& table) {
    Floors found;
    found.rows.assign(table.rows.size(), -1);
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
        if (table.rows[i].noise > 0) found.rows[i] = static_cast<float>(meanOfNormal * table.rows[i].noise);
    }
    std::vector<std::pair<std::size_t, double>> repeats;
    std::vector<double> sizes;
    for (const auto& rows : repeatsOf(table)) {
        double mean = 0;
        for (const std::size_t i : rows) mean += std::log(table.rows[i].seconds);
        const auto n = static_cast<double>(rows.size());
        mean /= n;
        const double wider = std::sqrt(n / (n - 1));
        for (const std::size_t i : rows) {
            repeats.emplace_back(i, std::expm1(std::abs(std::log(table.rows[i].seconds) - mean) * wider));
            sizes.push_back(repeats.back().second);
        }
    }
    const double median = sizes.empty() ? 0 : quantileType7(sizes, 0.5);
    if (median > mostRepeatsDiffer) {
        found.apart = median;
        return found;
    }
    found.repeated = repeats.size();
    for (const auto& [row, off] : repeats) found.rows[row] = std::max(found.rows[row], static_cast<float>(off));
    return found;
}

}  // namespace

std::vector<float> floorsOf(const ReferenceTable& table) {
    return foundIn(table).rows;
}

Repeatability repeatabilityOf(const ReferenceTable& table) {
    Repeatability all;
    const Floors found = foundIn(table);
    all.repeated = found.repeated;
    all.apart = found.apart;
    std::vector<double> known;
    for (const float floor : found.rows) {
        if (floor >= 0) known.push_back(floor);
    }
    if (known.empty()) return all;
    all.rows = known.size();
    for (const double each : known) all.mean += each / static_cast<double>(known.size());
    all.median = quantileType7(known, 0.5);
    all.p90 = quantileType7(known, 0.9);
    all.worst = *std::max_element(known.begin(), known.end());
    return all;
}

}  // namespace orrery
