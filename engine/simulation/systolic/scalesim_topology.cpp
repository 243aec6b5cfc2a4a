#include "simulation/systolic/scalesim_files.h"
#include "simulation/systolic/scalesim_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery::systolic {

namespace {

constexpr std::size_t mostLayers = 100'000;

struct Row {
    std::vector<std::string_view> fields;
    const std::string& file;
    int line;
    Place place(std::string_view column) const { return {.file = file, .line = line, .path = std::string(column)}; }
};

constexpr std::string_view convColumns[] = {"IFMAP height", "IFMAP width", "Filter height", "Filter width",
                                            "Channels",     "Num filter",  "Stride height"};
constexpr std::string_view gemmColumns[] = {"M", "N", "K"};

Expected<std::int64_t> number(const Row& row, std::size_t index, std::string_view column) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const auto value = wholeIn(row.fields[index]);
    if (value && *value >= 1 && *value <= most) return *value;
    return fail("scalesim.value", fmt::format("{} is `{}`", column, row.fields[index]),
                fmt::format("a whole number from 1 to {}", most), {}, row.place(column));
}

Expected<void> readRatio(const Row& row, std::string_view text, Layer& layer) {
    const auto parts = splitTrimmed(text, ':');
    const auto kept = parts.size() == 2 ? wholeIn(parts[0]) : std::nullopt;
    const auto of = parts.size() == 2 ? wholeIn(parts[1]) : std::nullopt;
    if (!kept || !of || *kept < 1 || *of < *kept || *of > 1024) {
        return fail("scalesim.value", fmt::format("the sparsity ratio is `{}`", text), "N:M with 1 ≤ N ≤ M ≤ 1024",
                    "2:4 keeps two of four weights", row.place("Sparsity"));
    }
    layer.sparseKept = *kept;
    layer.sparseOf = *of;
    return {};
}

Expected<void> tooFew(const Row& row, std::size_t wanted, std::string_view columns) {
    return fail("scalesim.missing", fmt::format("the row has {} columns", row.fields.size()),
                fmt::format("at least {}: name, {}", wanted, columns), "is it a file of the other kind (--gemm)?",
                row.place({}));
}

Expected<Layer> gemmRow(const Row& row) {
    if (row.fields.size() < 4) return tl::unexpected(tooFew(row, 4, "M, N, K").error());
    std::int64_t extents[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto value = number(row, i + 1, gemmColumns[i]);
        if (!value) return tl::unexpected(value.error());
        extents[i] = *value;
    }
    Layer layer = gemmLayer(std::string(row.fields[0]), extents[0], extents[1], extents[2]);
    if (row.fields.size() > 4) {
        if (auto good = readRatio(row, row.fields[4], layer); !good) return tl::unexpected(good.error());
    }
    return layer;
}

Expected<Layer> convRow(const Row& row) {
    if (row.fields.size() < 8) {
        return tl::unexpected(
            tooFew(row, 8, "input height, width, filter height, width, channels, filters, stride").error());
    }
    Layer layer;
    layer.name = std::string(row.fields[0]);
    std::int64_t* const targets[] = {&layer.ifmapHeight, &layer.ifmapWidth, &layer.filterHeight, &layer.filterWidth,
                                     &layer.channels,    &layer.filters,    &layer.strideHeight};
    for (std::size_t i = 0; i < std::size(targets); ++i) {
        const auto value = number(row, i + 1, convColumns[i]);
        if (!value) return tl::unexpected(value.error());
        *targets[i] = *value;
    }
    layer.strideWidth = layer.strideHeight;
    for (std::size_t i = 8; i < row.fields.size() && i < 10; ++i) {
        if (row.fields[i].find(':') != std::string_view::npos) {
            if (auto good = readRatio(row, row.fields[i], layer); !good) return tl::unexpected(good.error());
            continue;
        }
        const auto value = number(row, i, "Stride width");
        if (!value) return tl::unexpected(value.error());
        layer.strideWidth = *value;
    }
    return layer;
}

bool looksLikeData(const std::vector<std::string_view>& fields) {
    return fields.size() > 3 && std::all_of(fields.begin() + 1, fields.begin() + 4,
                                            [](std::string_view field) { return wholeIn(field).has_value(); });
}

Expected<void> addRow(ScaleSimTopology& topology, const Row& row, bool gemm) {
    auto layer = gemm ? gemmRow(row) : convRow(row);
    if (!layer) return tl::unexpected(layer.error());
    if (auto good = check(*layer); !good) {
        Diagnostic problem = good.error();
        problem.code = "scalesim.value";
        problem.place.file = row.file;
        problem.place.line = row.line;
        return tl::unexpected(std::move(problem));
    }
    const bool depthwise = !gemm && layer->name.find("DP") != std::string::npos;
    const std::int64_t copies = depthwise ? layer->channels : 1;
    if (topology.layers.size() + static_cast<std::size_t>(copies) > mostLayers) {
        return fail("scalesim.value", "there are too many layers", fmt::format("at most {}", mostLayers),
                    "a row with `DP` in its name becomes a layer per channel", row.place("Channels"));
    }
    const std::string name = layer->name;
    if (depthwise) layer->channels = 1;
    for (std::int64_t i = 0; i < copies; ++i) {
        if (depthwise) layer->name = fmt::format("{}Channel_{}", name, i);
        topology.layers.push_back(*layer);
    }
    return {};
}

}  // namespace

Expected<ScaleSimTopology> parseScaleSimTopology(std::string_view text, const std::string& file, bool gemm) {
    ScaleSimTopology topology;
    int line = 0;
    bool first = true;
    bool warned = false;
    for (const std::string_view rowText : splitTrimmed(text, '\n')) {
        ++line;
        if (rowText.empty()) continue;
        Row row{splitTrimmed(rowText, ','), file, line};
        // Stock files end every row with a comma.
        if (row.fields.back().empty())
            row.fields.pop_back();
        else if (!first && !warned) {
            warned = true;
            topology.warnings.push_back(warning("scalesim.ignored", "the row does not end with a comma",
                                                "its last column is read here; SCALE-Sim would drop it",
                                                row.place({})));
        }
        if (first) {
            first = false;
            if (!looksLikeData(row.fields)) continue;
            topology.warnings.push_back(warning("scalesim.ignored", "the first line is not a heading",
                                                "it is read as a layer here; SCALE-Sim would drop it", row.place({})));
        }
        if (auto good = addRow(topology, row, gemm); !good) return tl::unexpected(good.error());
    }
    if (topology.layers.empty()) {
        return fail("scalesim.missing", "the file has no layers", "a heading and a row per layer", {},
                    {.file = file, .line = line});
    }
    return topology;
}

Expected<ScaleSimTopology> readScaleSimTopology(const std::string& file, bool gemm) {
    const auto text = readScaleSimText(file);
    if (!text) return tl::unexpected(text.error());
    return parseScaleSimTopology(*text, file, gemm);
}

}  // namespace orrery::systolic
