#include "methods/trace/recorded_law.h"

#include "base/hash.h"
#include "base/maths.h"
#include "workload/kernel.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace orrery {

namespace {

constexpr std::size_t fewest_sizes = 4;    // of which one is left out
constexpr double optimizer_slack = 0.005;  // what a model stores beside its parameters, such as running means
constexpr double half_tick = 0.5e-6;       // s: profilers' tables have whole microseconds

using Size = RecordedFamily::Size;

std::string_view functionFamily(const Kernel& kernel) {
    const std::string_view f = kernel.function;
    if (kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution ||
        kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention)
        return {};
    if (f == "GlobalAveragePool" || f == "AdaptiveAveragePool" || f == "AveragePool") return "AveragePool";
    if (f == "Residual" || f == "Bias" || f == "Sum") return "Add";
    if (f == "Embedding") return "Gather";
    if (f == "GeluTanh") return "Gelu";
    if (f == "Swish") return "SiLU";
    return f;
}

/// FLOPs where they tell more than the bytes do.
double operationsIn(const Kernel& kernel) {
    const bool product = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution ||
                         kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention;
    return product ? kernel.flops : 0;
}

Size sizeOf(const Kernel& kernel, std::uint64_t id) {
    Size size{id, operationsIn(kernel), kernel.bytes()};
    const auto form = [&](auto... extents) {
        std::size_t i = 0;
        ((size.form[i++] = std::log(static_cast<float>(std::max<std::int64_t>(1, extents)))), ...);
    };
    const ConvolutionShape& c = kernel.convolution;
    const AttentionShape& a = kernel.attention;
    if (kernel.kind == KernelKind::Convolution)
        form(c.inChannels, c.outChannels, c.groups, c.kernelHeight * c.kernelWidth, c.outHeight * c.outWidth,
             c.height * c.width);
    else if (kernel.kind == KernelKind::Gemm)
        form(kernel.n, kernel.k);
    else if (kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention)
        form(a.heads, a.kvHeads, a.queries, a.keys, a.headDim);
    else if (kernel.kind == KernelKind::Normalization || kernel.kind == KernelKind::Softmax)
        form(kernel.n);
    return size;
}

/// Solves the normal equations of the chosen terms; false where they are singular or a coefficient is below 0.
bool solved(std::array<std::array<double, 4>, 3> rows, std::span<const int> terms, std::array<double, 3>& out) {
    const std::size_t n = terms.size();
    std::array<std::array<double, 4>, 3> m{};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            m[i][j] = rows[static_cast<std::size_t>(terms[i])][static_cast<std::size_t>(terms[j])];
        m[i][3] = rows[static_cast<std::size_t>(terms[i])][3];
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (!(std::abs(m[i][i]) > 1e-12)) return false;
        for (std::size_t r = 0; r < n; ++r) {
            if (r == i) continue;
            const double factor = m[r][i] / m[i][i];
            for (std::size_t c = i; c < n; ++c) m[r][c] -= factor * m[i][c];
            m[r][3] -= factor * m[i][3];
        }
    }
    out = {};
    for (std::size_t i = 0; i < n; ++i) {
        const double value = m[i][3] / m[i][i];
        if (!(value >= 0)) return false;
        out[static_cast<std::size_t>(terms[i])] = value;
    }
    return true;
}

// Terms are scaled by their largest value, errors by the time. Of three terms every subset is tried.
std::array<double, 3> fitted(const std::vector<Size>& sizes, std::size_t without) {
    double flops = 1, bytes = 1;
    std::size_t used = 0;
    for (const Size& each : sizes) flops = std::max(flops, each.flops), bytes = std::max(bytes, each.bytes);
    std::array<std::array<double, 4>, 3> rows{};
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        const double busy = sizes[s].busy();
        if (s == without || !(busy > 0)) continue;
        ++used;
        const std::array<double, 3> x{1 / busy * 1e-6, sizes[s].flops / flops / busy * 1e-6,
                                      sizes[s].bytes / bytes / busy * 1e-6};
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) rows[i][j] += x[i] * x[j];
            rows[i][3] += x[i];
        }
    }
    constexpr int order[] = {0, 1, 2};
    const int subsets[][3] = {{1, 0, 0}, {2, 0, 0}, {0, 0, 0}, {1, 2, 0}, {0, 1, 0}, {0, 2, 0}, {0, 1, 2}};
    const std::size_t counts[] = {1, 1, 1, 2, 2, 2, 3};
    std::array<double, 3> best{};
    double least = HUGE_VAL;
    for (std::size_t k = 0; k < 7; ++k) {
        const std::size_t terms = counts[k];
        if (terms > 1 && used < 2 * terms) continue;
        std::array<double, 3> x;
        if (!solved(rows, terms == 3 ? std::span<const int>(order) : std::span<const int>(subsets[k], terms), x))
            continue;
        // Σ(x·w − 1)², from the sums.
        double error = static_cast<double>(used);
        for (std::size_t i = 0; i < 3; ++i) {
            error -= 2 * x[i] * rows[i][3];
            for (std::size_t j = 0; j < 3; ++j) error += x[i] * x[j] * rows[i][j];
        }
        if (error < least - 1e-12) least = error, best = x;
    }
    return {best[0] * 1e-6, best[1] * 1e-6 / flops, best[2] * 1e-6 / bytes};
}

double lawSeconds(const std::array<double, 3>& law, double flops, double bytes) {
    return law[0] + law[1] * flops + law[2] * bytes;
}

double apart(const Size& a, const Size& b) {
    const auto logs = [](double x, double y) { return std::abs(std::log((x + 1) / (y + 1))); };
    double distance = logs(a.flops, b.flops) + logs(a.bytes, b.bytes);
    for (std::size_t i = 0; i < a.form.size(); ++i) distance += std::abs(a.form[i] - b.form[i]);
    return distance;
}

struct Extrapolated {
    double busy = 0, idle = 0;
};

/// The nearest recorded size, scaled by the law; what no kernel does stays as it is there.
Extrapolated extrapolated(const std::vector<Size>& sizes, const std::array<double, 3>& law, const Size& wanted,
                          std::size_t without) {
    const Size* nearest = nullptr;
    double least = HUGE_VAL;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        if (s == without) continue;
        const double distance = apart(wanted, sizes[s]);
        if (distance < least) least = distance, nearest = &sizes[s];
    }
    const double there = nearest ? lawSeconds(law, nearest->flops, nearest->bytes) : 0;
    const double here = lawSeconds(law, wanted.flops, wanted.bytes);
    if (!(there > 0)) return {here, 0};
    return {nearest->busy() * here / there, nearest->idle};
}

constexpr std::size_t nothing_left_out = ~std::size_t{0};

void learn(RecordedFamily& family) {
    family.law = fitted(family.sizes, nothing_left_out);
    if (family.sizes.size() < fewest_sizes) return;
    std::vector<double> ratios;
    double off = 0, all = 0;
    for (std::size_t s = 0; s < family.sizes.size(); ++s) {
        const Size& left = family.sizes[s];
        const double predicted = extrapolated(family.sizes, fitted(family.sizes, s), left, s).busy;
        if (!(predicted > 0) || !(left.busy() > 0)) continue;
        ratios.push_back(left.busy() / predicted);
        family.error += std::abs(std::log(ratios.back()));
        off += left.rows * std::abs(predicted - left.busy());
        all += left.rows * left.busy();
    }
    if (ratios.size() < fewest_sizes) return;
    family.error /= static_cast<double>(ratios.size());
    family.weighted = off / all;
    family.known = true;
    family.low = std::min(1.0, quantileType7(ratios, 0.05));
    family.high = std::max(1.0, quantileType7(ratios, 0.95));
}

}  // namespace

std::uint64_t familyIdentity(const Kernel& kernel, KernelUse use) {
    Hash hash;
    hash.add(static_cast<std::uint64_t>(use));
    if (use == KernelUse::Optimizer) return hash.value();
    hash.add(static_cast<std::uint64_t>(kernel.kind)).add(static_cast<std::uint64_t>(bits(kernel.type)));
    return hash.add(functionFamily(kernel)).value();
}

std::uint64_t sizeIdentity(const Kernel& kernel, KernelUse use) {
    Hash hash;
    hash.add(familyIdentity(kernel, use));
    const auto add = [&](auto... values) { (hash.add(static_cast<std::uint64_t>(values)), ...); };
    switch (kernel.kind) {
        case KernelKind::Gemm:
            add(kernel.batch, std::min(kernel.m, kernel.n), std::max(kernel.m, kernel.n), kernel.k);
            break;
        case KernelKind::Convolution: {
            const ConvolutionShape& c = kernel.convolution;
            add(c.batch, c.inChannels, c.outChannels, c.groups, c.height, c.width, c.kernelHeight, c.kernelWidth,
                c.outHeight, c.outWidth);
            break;
        }
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const AttentionShape& a = kernel.attention;
            add(a.batch, a.heads, a.kvHeads, a.queries, a.keys, a.headDim);
            break;
        }
        case KernelKind::Elementwise:
            add(kernel.m * kernel.n);
            break;
        case KernelKind::Normalization:
        case KernelKind::Softmax:
            add(kernel.m * kernel.n, kernel.n);
            break;
        case KernelKind::Movement:  // indices are of any width
            hash.add(kernel.writeBytes);
            break;
        case KernelKind::Other:
        case KernelKind::Experts:
        case KernelKind::Collective:
            add(kernel.operands);
            hash.add(kernel.readBytes).add(kernel.writeBytes);
            break;
    }
    return hash.value();
}

RecordedLaw RecordedLaw::of(const RecordedLaunches& recording) {
    RecordedLaw result;
    std::vector<std::pair<std::pair<std::int32_t, std::int32_t>, double>> rows;
    for (const RecordedLaunch& launch : recording.launches) {
        const auto [family, fresh] = result.at_.try_emplace(familyIdentity(launch.kernel, launch.use),
                                                            static_cast<std::int32_t>(result.families_.size()));
        if (fresh)
            result.families_.push_back(
                {.kind = launch.kernel.kind, .use = launch.use, .function = functionFamily(launch.kernel)});
        RecordedFamily& its = result.families_[static_cast<std::size_t>(family->second)];
        const std::uint64_t id = sizeIdentity(launch.kernel, launch.use);
        const auto [size, first] =
            result.sizes_.try_emplace(id, std::pair{family->second, static_cast<std::int32_t>(its.sizes.size())});
        if (first) its.sizes.push_back(sizeOf(launch.kernel, id));
        Size& of = its.sizes[static_cast<std::size_t>(size->second.second)];
        of.seconds += launch.seconds;
        of.idle += launch.idle;
        of.rows += 1;
        rows.emplace_back(size->second, launch.seconds - launch.idle);
    }
    for (RecordedFamily& family : result.families_) {
        for (Size& size : family.sizes) size.seconds /= size.rows, size.idle /= size.rows;
        learn(family);
    }
    std::vector<double> ratios;
    for (const auto& [at, seconds] : rows) {
        const Size& size =
            result.families_[static_cast<std::size_t>(at.first)].sizes[static_cast<std::size_t>(at.second)];
        if (size.rows < 2 || !(seconds > 0) || !(size.busy() > 0)) continue;
        ratios.push_back(seconds / size.busy());
        result.scatter_ += std::abs(std::log(ratios.back()));
    }
    if (!ratios.empty()) {
        result.scatter_ /= static_cast<double>(ratios.size());
        result.low_ = std::min(1.0, quantileType7(ratios, 0.05));
        result.high_ = std::max(1.0, quantileType7(ratios, 0.95));
    }
    return result;
}

// Whole families alone: of single sizes another batch, or another plan, asks for others.
std::vector<RecordedLaw::Unasked> RecordedLaw::unasked(
    std::span<const std::pair<const Kernel*, KernelUse>> kernels) const {
    std::vector<bool> asked(families_.size(), false);
    std::array<bool, 5> uses{};  // a question about one pass leaves out the rest of the step by itself
    for (const auto& [kernel, use] : kernels) uses[static_cast<std::size_t>(use)] = true;
    for (const auto& [kernel, use] : kernels)
        if (const auto at = at_.find(familyIdentity(*kernel, use)); at != at_.end())
            asked[static_cast<std::size_t>(at->second)] = true;
    std::vector<Unasked> left;
    for (std::size_t f = 0; f < families_.size(); ++f) {
        if (asked[f] || !uses[static_cast<std::size_t>(families_[f].use)]) continue;
        left.push_back({&families_[f], 0});
        for (const Size& size : families_[f].sizes) left.back().seconds += size.rows * size.seconds;
    }
    return left;
}

RecordedLaw::Found RecordedLaw::find(const Kernel& kernel, KernelUse use) const {
    Found found;
    const auto at = at_.find(familyIdentity(kernel, use));
    if (at == at_.end()) return found;
    const RecordedFamily& family = families_[static_cast<std::size_t>(at->second)];
    found.family = &family;
    if (const auto size = sizes_.find(sizeIdentity(kernel, use)); size != sizes_.end()) {
        found.seconds = family.sizes[static_cast<std::size_t>(size->second.second)].seconds;
        found.recorded = true;
        found.low = std::max(0.0, low_ * found.seconds - half_tick);
        found.high = high_ * found.seconds + half_tick;
        return found;
    }
    if (use == KernelUse::Optimizer) {  // one pass over all parameters: by its bytes
        const Size& recorded = family.sizes.front();
        const double ratio = recorded.bytes > 0 ? kernel.bytes() / recorded.bytes : 1;
        found.recorded = std::abs(ratio - 1) < optimizer_slack;
        found.seconds = recorded.seconds * (found.recorded ? 1 : ratio);
        found.low = std::max(0.0, low_ * found.seconds - half_tick);
        found.high = high_ * found.seconds + half_tick;
        return found;
    }
    const auto [busy, idle] = extrapolated(family.sizes, family.law, sizeOf(kernel, 0), nothing_left_out);
    found.seconds = found.low = found.high = busy + idle;
    double least = HUGE_VAL, most = 0;
    for (const Size& each : family.sizes) {
        const double work = std::max(each.flops, each.bytes);
        least = std::min(least, work), most = std::max(most, work);
    }
    const double work = std::max(operationsIn(kernel), kernel.bytes());
    if (work > 2 * most || work < least / 2)
        found.domain = DomainVerdict::Outside;
    else if (work > most || work < least)
        found.domain = DomainVerdict::Edge;
    if (!family.known) return found;
    // No size that was left out lay as far from the others as this one does.
    const double times = found.domain == DomainVerdict::Outside ? 2 : 1;
    found.low = std::pow(family.low, times) * busy + idle, found.high = std::pow(family.high, times) * busy + idle;
    return found;
}

}  // namespace orrery
