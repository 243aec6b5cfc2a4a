#include "evaluation/row_facets.h"

#include "evaluation/reference_checks.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/gpu_view.h"

#include <algorithm>
#include <utility>

namespace orrery {

namespace {

constexpr const char* noPlatform = "unknown";  // of devices that the catalogue lacks

const std::map<std::string, std::string, std::less<>>& platformsByDevice() {
    static const std::map<std::string, std::string, std::less<>> groups = [] {
        std::map<std::string, std::string, std::less<>> all;
        for (const CatalogueEntry& entry : hardwareCatalogue()) {
            std::string group = entry.group;
            // A system is of the platform of its devices.
            if (group == "System") {
                const auto hardware = catalogueHardware(entry.id);
                if (hardware && gpuView(*hardware)) group = "GPU";
            }
            all.emplace(entry.id, std::move(group));
        }
        return all;
    }();
    return groups;
}

std::string platformOf(const std::string& device) {
    const auto found = platformsByDevice().find(device);
    return found == platformsByDevice().end() ? noPlatform : found->second;
}

std::string classOf(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Gemm:
            return "matrix products";
        case KernelKind::PrefillAttention:
            return "prefill attention";
        case KernelKind::DecodeAttention:
            return "decode attention";
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            return "vector operators";
        case KernelKind::Convolution:
            return "convolutions";
        case KernelKind::Collective:
            return "collectives";
        case KernelKind::Experts:
            return "experts";
        case KernelKind::Movement:
        case KernelKind::Other:
            break;
    }
    return "other kernels";
}

std::string classOf(const ModelRow& model) {
    const WorkloadInfo* info = builtinWorkload(model.recipe.source);
    if (!info) return "other models";
    if (kindOf(model.task) == TaskKind::TrainingStep) return "training steps";
    if (kindOf(model.task) == TaskKind::ServingRun) return "serving runs";
    if (info->hasPhases) return "decoder models";
    if (info->group == "Language") return "encoder models";
    return info->group + " models";
}

/// A serving run is a question about a system on one device too.
bool isSystem(const ModelRow& model) {
    return model.plan.devices() > 1 || kindOf(model.task) == TaskKind::ServingRun;
}

/// As people list them, others after them by name.
std::size_t rank(Facet facet, std::string_view word) {
    static constexpr std::array<std::string_view, 11> order{
        "GPU", "TPU", "Accelerator", "Edge", "CPU", "kernel", "model", "system", "measured", "summed", "simulated"};
    if (facet == Facet::WorkloadClass || facet == Facet::Kind) return 0;
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), word) - order.begin());
}

bool leftOut(const FacetsOff& off, Facet facet, const std::string& word) {
    const auto found = off.find(facet);
    return found != off.end() && found->second.contains(word);
}

}  // namespace

std::vector<std::string> platformWords() {
    std::set<std::string> words{noPlatform};
    for (const auto& [device, word] : platformsByDevice()) words.insert(word);
    return {words.begin(), words.end()};
}

std::string_view toText(Facet facet) {
    switch (facet) {
        case Facet::Platform:
            return "platform";
        case Facet::WorkloadClass:
            return "class";
        case Facet::Kind:
            return "kind";
        case Facet::Level:
            return "level";
        case Facet::Truth:
            return "truth";
    }
    return {};
}

std::string facetOf(Facet facet, const ReferenceTable& table, const ReferenceRow& row) {
    const bool model = !table.models.empty();
    switch (facet) {
        case Facet::Platform:
            return platformOf(table.devices[static_cast<std::size_t>(row.device)].catalogue);
        case Facet::WorkloadClass:
            return model ? classOf(table.models[static_cast<std::size_t>(&row - table.rows.data())])
                         : classOf(row.kernel);
        case Facet::Kind:
            return model ? std::string("model") : std::string(toText(row.kernel.kind));
        case Facet::Level:
            if (!model) return "kernel";
            return isSystem(table.models[static_cast<std::size_t>(&row - table.rows.data())]) ? "system" : "model";
        case Facet::Truth:
            return std::string(toText(table.kind));
    }
    return {};
}

std::vector<RowRef> rowsWithout(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                const FacetsOff& off) {
    std::vector<RowRef> kept;
    for (const RowRef ref : rows) {
        const bool out = std::any_of(facets.begin(), facets.end(), [&](Facet facet) {
            return off.contains(facet) && leftOut(off, facet, facetOf(facet, tables, ref));
        });
        if (!out) kept.push_back(ref);
    }
    return kept;
}

std::vector<FacetCount> facetCounts(Facet facet, std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                    const FacetsOff& off) {
    std::map<std::string, std::size_t> found;
    for (const RowRef ref : rows) found.try_emplace(facetOf(facet, tables, ref), 0);
    FacetsOff others = off;
    others.erase(facet);
    for (const RowRef ref : rowsWithout(tables, rows, others)) ++found[facetOf(facet, tables, ref)];
    std::vector<FacetCount> counts;
    for (const auto& [word, count] : found) counts.push_back({word, count, !leftOut(off, facet, word)});
    std::stable_sort(counts.begin(), counts.end(), [facet](const FacetCount& a, const FacetCount& b) {
        return rank(facet, a.word) < rank(facet, b.word);
    });
    return counts;
}

std::string facetTerms(std::span<const ReferenceTable> tables, std::span<const RowRef> rows, const FacetsOff& off) {
    std::string terms;
    for (const Facet facet : facets) {
        std::string words;
        bool any = false;
        for (const FacetCount& each : facetCounts(facet, tables, rows, off)) {
            any = any || !each.on;
            if (each.on) words.append(words.empty() ? "" : "|").append(each.word);
        }
        if (any) terms.append(terms.empty() ? "" : ",").append(toText(facet)).append("=").append(words);
    }
    return terms;
}

}  // namespace orrery
