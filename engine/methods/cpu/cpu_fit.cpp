#include "methods/cpu/cpu_fit.h"

#include "learning/fit_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 3> shareNames{"launch constant", "compute stretch", "memory stretch"};
constexpr std::size_t leastRowsOfFunction = 4;

using Three = std::array<double, 3>;

// Gauss on the chosen unknowns alone; false where they cannot be told apart.
bool solve(const std::array<Three, 3>& matrix, const Three& right, unsigned chosen, Three& out) {
    std::array<std::array<double, 4>, 3> rows{};
    std::array<std::size_t, 3> which{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        if (chosen & (1U << i)) which[n++] = i;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) rows[i][j] = matrix[which[i]][which[j]];
        rows[i][3] = right[which[i]];
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (!(rows[i][i] > 1e-12 * matrix[which[i]][which[i]])) return false;
        for (std::size_t r = 0; r < n; ++r) {
            if (r == i) continue;
            const double factor = rows[r][i] / rows[i][i];
            for (std::size_t c = i; c < n; ++c) rows[r][c] -= factor * rows[i][c];
            rows[r][3] -= factor * rows[i][3];
        }
    }
    out = {};
    for (std::size_t i = 0; i < n; ++i) out[which[i]] = rows[i][3] / rows[i][i];
    return true;
}

struct CoresGroup {
    KernelKind kind = KernelKind::Gemm;
    std::string variant;
    std::vector<CoresTime> times;
    std::vector<double> measured;
    std::vector<std::string_view> function;
    std::optional<DeviceFingerprint> device;
    CalibrationSource source;
    CoresShares usual;
};

bool isVector(KernelKind kind) {
    return kind == KernelKind::Elementwise || kind == KernelKind::Softmax || kind == KernelKind::Normalization;
}

void fitParameters(const CoresGroup& group, std::span<const std::size_t> fitTo, SectionParameters& parameters) {
    parameters.clear();
    const CoresShares all = fitShares(group.times, group.measured, fitTo, group.usual);
    keepShares(all, {}, parameters);
    if (!isVector(group.kind)) return;
    std::map<std::string_view, std::vector<std::size_t>> byFunction;
    for (const std::size_t i : fitTo) byFunction[group.function[i]].push_back(i);
    if (byFunction.size() < 2) return;
    for (const auto& [function, rows] : byFunction) {
        if (function.empty() || rows.size() < leastRowsOfFunction) continue;
        keepShares(fitShares(group.times, group.measured, rows, all), function, parameters);
    }
}

}  // namespace

CoresShares fitShares(std::span<const CoresTime> times, std::span<const double> measured,
                      std::span<const std::size_t> fitTo, const CoresShares& usual) {
    CoresShares best = usual;
    std::vector<double> weight(fitTo.size(), 1);
    for (int round = 0; round < 10; ++round) {
        std::array<Three, 3> matrix{};
        Three right{};
        for (std::size_t r = 0; r < fitTo.size(); ++r) {
            const std::size_t i = fitTo[r];
            const Three row{1 / measured[i], times[i].compute / measured[i], times[i].memory / measured[i]};
            for (std::size_t a = 0; a < 3; ++a) {
                for (std::size_t b = 0; b < 3; ++b) matrix[a][b] += weight[r] * row[a] * row[b];
                right[a] += weight[r] * row[a];
            }
        }
        const Three start{usual.constant, usual.compute, usual.memory};
        for (std::size_t a = 0; a < 3; ++a) {
            const double pull = 1e-3 * matrix[a][a];
            matrix[a][a] += pull;
            right[a] += pull * start[a];
        }
        const auto loss = [&](const Three& x) {
            double sum = 0;
            for (std::size_t a = 0; a < 3; ++a) {
                sum -= 2 * right[a] * x[a];
                for (std::size_t b = 0; b < 3; ++b) sum += x[a] * matrix[a][b] * x[b];
            }
            return sum;
        };
        double least = INFINITY;
        for (unsigned chosen = 1; chosen < 8; ++chosen) {
            Three x{};
            if (!solve(matrix, right, chosen, x)) continue;
            if (std::any_of(x.begin(), x.end(), [](double v) { return !(v >= 0); })) continue;
            if (const double found = loss(x); found < least) {
                least = found;
                best = {x[0], x[1], x[2]};
            }
        }
        for (std::size_t r = 0; r < fitTo.size(); ++r) {
            const double off = std::abs(best(times[fitTo[r]]) / measured[fitTo[r]] - 1);
            weight[r] = 1 / std::max(off, 0.02);
        }
    }
    return best;
}

void keepShares(const CoresShares& shares, std::string_view function, SectionParameters& parameters) {
    const std::array values{shares.constant, shares.compute, shares.memory};
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::string name(shareNames[i]);
        if (!function.empty()) name.append(" of ").append(function);
        parameters[std::move(name)] = values[i];
    }
}

CoresShares sharesOf(const SectionParameters& parameters, std::string_view function, const CoresShares& usual) {
    Three values{usual.constant, usual.compute, usual.memory};
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::array<char, 96> text;
        const auto end = fmt::format_to_n(text.data(), text.size(), "{} of {}", shareNames[i], function);
        auto found = function.empty() || end.size > text.size()
                         ? parameters.end()
                         : parameters.find(std::string_view(text.data(), end.size));
        if (found == parameters.end()) found = parameters.find(shareNames[i]);
        if (found != parameters.end()) values[i] = found->second;
    }
    return {values[0], values[1], values[2]};
}

Expected<Calibration> fitCores(std::string_view method, std::string_view version, std::span<const KernelRows> rows,
                               const FitOptions& options) {
    std::map<std::tuple<std::size_t, KernelKind, std::string>, CoresGroup> groups;
    for (std::size_t d = 0; d < rows.size(); ++d) {
        for (std::size_t i = 0; i < rows[d].kernels.size(); ++i) {
            const Kernel& kernel = rows[d].kernels[i];
            const CoresTime time = coresSeconds(rows[d].gpu, kernel);
            if (!(time.compute + time.memory > 0) || !(rows[d].seconds[i] > 0)) continue;
            CoresGroup& group = groups[{d, kernel.kind, kernelVariant(kernel)}];
            if (group.times.empty()) {
                group.kind = kernel.kind;
                group.variant = kernelVariant(kernel);
                group.device = fingerprint(rows[d].gpu, kernel.type);
                group.device->id = rows[d].deviceId;
                group.source = rows[d].source;
                group.usual.constant = rows[d].gpu.device.launchOverhead.value;
            }
            group.times.push_back(time);
            group.measured.push_back(rows[d].seconds[i]);
            group.function.push_back(kernel.function);
        }
    }
    if (groups.empty()) {
        return fail("learning.no-rows", "no measured kernel is priced by this method", "rows of kernels that it covers",
                    "choose other references or another method");
    }
    Calibration calibration;
    calibration.method = method;
    calibration.methodVersion = version;
    for (auto& [key, group] : groups) {
        if (options.stop.stop_requested()) break;
        SectionOptions section;
        section.kind = group.kind;
        section.variant = group.variant;
        section.device = group.device;
        section.learn = false;
        group.source.rows = static_cast<std::int64_t>(group.times.size());
        section.sources = {group.source};
        section.split = options.split;
        section.candidates.front().seed = options.seed;
        const auto prepare = [&group](std::span<const std::size_t> fitTo,
                                      SectionParameters& parameters) -> Expected<SectionRows> {
            fitParameters(group, fitTo, parameters);
            SectionRows out;
            out.measured = group.measured;
            for (std::size_t i = 0; i < group.times.size(); ++i) {
                const auto function = isVector(group.kind) ? group.function[i] : std::string_view();
                out.baseline.push_back(sharesOf(parameters, function, group.usual)(group.times[i]));
            }
            return out;
        };
        auto fitted = fitSection(group.times.size(), prepare, section);
        if (!fitted) return Unexpected(std::move(fitted.error()));
        calibration.sections.push_back(std::move(fitted->section));
    }
    return calibration;
}

}  // namespace orrery
