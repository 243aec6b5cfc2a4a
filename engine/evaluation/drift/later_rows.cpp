#include "evaluation/drift/later_rows.h"

#include "learning/calibration.h"
#include "learning/software_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace orrery {

namespace {

struct Timed {
    const Kernel* kernel = nullptr;
    double seconds = 0;
};
using Version = std::map<std::uint64_t, Timed>;  // by identity

struct OlderFirst {
    bool operator()(const std::string& a, const std::string& b) const {
        if (olderVersion(a, b)) return true;
        return !olderVersion(b, a) && a < b;
    }
};
using Versions = std::map<std::string, Version, OlderFirst>;

using FamilyKey = std::tuple<std::string, std::string, std::string, std::string, bool>;

std::string variantOf(const Kernel& kernel) {
    if (kernel.kind != KernelKind::Collective) return kernelVariant(kernel);
    return fmt::format("{}{}", kernel.library == CollectiveLibrary::Custom ? "custom " : "", toText(kernel.collective));
}

LaterRows joined(const DriftFamily& family, const std::string& from, const Version& old, const std::string& to,
                 const Version& young) {
    LaterRows rows{family, from, to, {}, {}, {}, {}, {}, {}};
    for (const auto& [identity, timed] : old) {
        const auto later = young.find(identity);
        if (later == young.end()) continue;
        rows.kernels.push_back(*timed.kernel);
        rows.identity.push_back(identity);
        rows.believed.push_back(timed.seconds);
        rows.measured.push_back(later->second.seconds);
    }
    return rows;
}

void addPairs(std::vector<LaterRows>& all, const DriftFamily& family, const Versions& versions,
              const LaterOptions& options) {
    for (auto older = versions.begin(); older != versions.end(); ++older) {
        if (!options.from.empty() && older->first != options.from) continue;
        // The newest that shares enough, or the next one that does.
        std::vector<Versions::const_iterator> younger;
        for (auto it = std::next(older); it != versions.end(); ++it)
            if (options.to.empty() || it->first == options.to) younger.push_back(it);
        if (!options.steps) std::reverse(younger.begin(), younger.end());
        for (const auto& young : younger) {
            auto rows = joined(family, older->first, older->second, young->first, young->second);
            if (rows.size() < leastSharedKernels) continue;
            all.push_back(std::move(rows));
            if (!options.steps) return;
            break;
        }
    }
}

constexpr std::size_t extents = 20;
std::array<double, extents> extentsOf(const Kernel& k) {
    const auto& a = k.attention;
    const auto& e = k.experts;
    const auto& c = k.convolution;
    const auto whole = [](std::int64_t n) { return static_cast<double>(n); };
    switch (k.kind) {
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return {whole(a.batch),   whole(a.heads),    whole(a.kvHeads), whole(a.queries),    whole(a.keys),
                    whole(a.headDim), whole(a.valueDim), whole(k.window),  a.causal ? 1.0 : 0.0};
        case KernelKind::Experts:
            return {whole(e.tokens), whole(e.rows),  whole(e.held),       whole(e.touched),
                    whole(e.hidden), whole(e.inner), e.gated ? 1.0 : 0.0, e.skew};
        case KernelKind::Collective:
            return {whole(k.ranks), k.messageBytes, static_cast<double>(k.collective), static_cast<double>(k.type)};
        case KernelKind::Convolution:
            return {whole(c.batch), whole(c.inChannels),   whole(c.outChannels), whole(c.groups), whole(c.height),
                    whole(c.width), whole(c.kernelHeight), whole(c.kernelWidth), whole(c.stride), whole(c.dilation)};
        default:
            return {whole(k.batch), whole(k.m), whole(k.n), whole(k.k), k.flops, k.bytes()};
    }
}

}  // namespace

std::string toText(const DriftFamily& family) {
    return fmt::format("{} {} {}{} on {}", family.software, family.kind, family.variant,
                       family.hostTimed ? " (timed by a host)" : "", family.device);
}

std::vector<LaterRows> laterRows(std::span<const ReferenceTable> tables, const LaterOptions& options) {
    std::map<FamilyKey, Versions> families;
    for (const ReferenceTable& table : tables) {
        const SoftwareVersion software = softwareVersion(table.software);
        if (software.version.empty() || !table.models.empty()) continue;
        for (const ReferenceRow& row : table.rows) {
            const ReferenceDevice& device = table.devices[static_cast<std::size_t>(row.device)];
            const FamilyKey key{software.name, std::string(toText(row.kernel.kind)), variantOf(row.kernel),
                                device.catalogue.empty() ? device.name : device.catalogue, table.hostTimed};
            Timed& timed = families[key][software.version][kernelIdentity(row.kernel)];
            if (timed.kernel == nullptr || row.seconds < timed.seconds) timed = {&row.kernel, row.seconds};
        }
    }
    std::vector<LaterRows> all;
    for (const auto& [key, versions] : families) {
        const auto& [software, kind, variant, device, hostTimed] = key;
        addPairs(all, {device, software, kind, variant, hostTimed}, versions, options);
    }
    return all;
}

LaterInputs inputsOf(const LaterRows& rows) {
    const std::size_t n = rows.size();
    std::vector<std::vector<double>> columns(1);
    for (const double seconds : rows.believed) columns[0].push_back(std::log(seconds));
    std::vector<std::array<double, extents>> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = extentsOf(rows.kernels[i]);
    for (std::size_t c = 0; c < extents; ++c) {
        std::vector<double> column(n);
        for (std::size_t i = 0; i < n; ++i) column[i] = std::log1p(std::max(all[i][c], 0.0));
        // A column that another one repeats would count twice in distances.
        if (std::find(columns.begin() + 1, columns.end(), column) == columns.end())
            columns.push_back(std::move(column));
    }
    LaterInputs inputs;
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto [low, high] = std::minmax_element(columns[c].begin(), columns[c].end());
        const double least = n > 0 ? *low : 0, range = n > 0 ? *high - *low : 0;
        if (c > 0 && range < 1e-9) continue;
        for (double& value : columns[c]) value = range > 0 ? (value - least) / range : 0;
        kept.push_back(c);
    }
    inputs.columns = kept.size();
    inputs.values.resize(n * kept.size());
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kept.size(); ++k) inputs.values[i * kept.size() + k] = columns[kept[k]][i];
    return inputs;
}

}  // namespace orrery
