#include "learning/edge/space_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

// NAS-Bench-201. MACs of an operator, summed over the fifteen cells, in millions: at 32×32, 16×16 and 8×8 with 16, 32
// and 64 channels each stage does the same.
constexpr double conv3Work = 35.4, conv1Work = 3.93, fixedWork = 7.8;
constexpr std::array<const char*, 6> edgeNames{"01", "02", "12", "03", "13", "23"};
constexpr std::array<const char*, 5> opNames{"none", "skip", "conv1", "conv3", "pool"};

SpaceFeatures cellFeatures() {
    SpaceFeatures f{"nasbench201",
                    {"one", "conv1", "conv3", "pool", "skip", "live conv1", "live conv3", "pooled values", "adds",
                     "rectified values", "any live", "calls", "operations", "live operations", "depth"},
                    {11, 12, 13},
                    11};
    for (const bool live : {false, true})
        for (const char* edge : edgeNames)
            for (std::size_t op = 1; op < opNames.size(); ++op)
                f.names.push_back(fmt::format("{}{} at {}", live ? "live " : "", opNames[op], edge));
    f.nothing = f.names.size();
    f.names.push_back("nothing left");
    f.half = f.names.size();
    for (std::size_t c = 0; c < f.half; ++c) f.names.push_back("folded: " + f.names[c]);
    f.nothing += f.half;
    return f;
}

// Which value each node holds: a node of one skip alone holds that of another, and two of one pool alone of the same
// value hold the same, so that what is made of it is made once. As written a zero is added too, unless it is `folded`
// away; all nodes without an input are one constant then.
std::array<std::size_t, 4> valuesOf(const NasBench201Cell& cell, bool foldedAway) {
    using Cell = NasBench201Cell;
    constexpr std::size_t zero = 4, none = 5;
    std::array<std::size_t, 4> value{0, 1, 2, 3}, inputs{}, only{}, pooled{none, none, none, none};
    for (std::size_t e = 0; e < cell.edges.size(); ++e) {
        if (foldedAway && cell.edges[e] == Cell::None) continue;
        const auto to = static_cast<std::size_t>(cell.to[e]);
        inputs[to] += 1;
        only[to] = e;
    }
    for (std::size_t n = 1; n < 3; ++n) {
        if (inputs[n] == 0) value[n] = zero;
        if (inputs[n] != 1) continue;
        const std::size_t from = value[static_cast<std::size_t>(cell.from[only[n]])];
        if (cell.edges[only[n]] == Cell::Skip) value[n] = from;
        if (cell.edges[only[n]] != Cell::Pool || from == zero) continue;
        if (pooled[from] == none) pooled[from] = n;
        value[n] = pooled[from];
    }
    return value;
}

void cellRow(const NasBench201Cell& cell, bool foldedAway, std::vector<double>& row) {
    using Cell = NasBench201Cell;
    const auto live = liveEdges(cell);
    const auto value = valuesOf(cell, foldedAway);
    std::array<double, 5> all{}, kept{};
    std::array<double, 4> depth{}, arriving{};
    std::array<bool, 5> rectified{}, pooled{};
    for (std::size_t e = 0; e < 6; ++e) {
        const auto op = cell.edges[e];
        all[op] += 1;
        if (op == Cell::None) continue;
        const auto from = static_cast<std::size_t>(cell.from[e]), to = static_cast<std::size_t>(cell.to[e]);
        arriving[to] += 1;
        if (op == Cell::Conv1 || op == Cell::Conv3) rectified[value[from]] = true;
        if (op == Cell::Pool) pooled[value[from]] = true;
        if (!live[e]) continue;
        kept[op] += 1;
        depth[to] = std::max(depth[to], depth[from] + (op == Cell::Skip ? 0 : 1));
    }
    double adds = 0;
    for (const double each : arriving) adds += std::max(0.0, each - 1);
    const auto relus = static_cast<double>(std::count(rectified.begin(), rectified.end(), true)),
               pools = static_cast<double>(std::count(pooled.begin(), pooled.end(), true));
    const bool any = std::any_of(live.begin(), live.end(), [](bool each) { return each; });
    const double calls = 3 * (all[Cell::Conv1] + all[Cell::Conv3]) + all[Cell::Pool] + 1;
    row.insert(row.end(), {1, all[Cell::Conv1], all[Cell::Conv3], all[Cell::Pool], all[Cell::Skip], kept[Cell::Conv1],
                           kept[Cell::Conv3], pools, adds, relus, any ? 1.0 : 0.0, calls,
                           fixedWork + conv1Work * all[Cell::Conv1] + conv3Work * all[Cell::Conv3],
                           fixedWork + conv1Work * kept[Cell::Conv1] + conv3Work * kept[Cell::Conv3], depth[3]});
    for (const bool onlyLive : {false, true})
        for (std::size_t e = 0; e < 6; ++e)
            for (std::size_t op = 1; op < opNames.size(); ++op)
                row.push_back(cell.edges[e] == op && (!onlyLive || live[e]) ? 1 : 0);
    row.push_back(foldedAway && !any ? 1 : 0);
}

SpaceFeatures blockFeatures() {
    SpaceFeatures f{"fbnet", {"one", "blocks", "operations", "depthwise operations", "elements"}, {1, 2, 4}, 5};
    for (std::size_t place = 0; place < FbnetBlocks::places; ++place)
        for (std::size_t id = 0; id < FbnetBlocks::choices; ++id)
            f.names.push_back(fmt::format("block {} at {}", id, place));
    return f;
}

void blockRow(const FbnetBlocks& blocks, std::vector<double>& row) {
    constexpr std::array<int, 7> counts{1, 4, 4, 4, 4, 4, 1};
    constexpr std::array<double, 7> channels{16, 24, 32, 64, 112, 184, 352}, strides{1, 1, 2, 2, 1, 2, 1};
    constexpr std::array<double, 8> expansions{1, 1, 3, 6, 1, 1, 3, 6};
    double used = 0, work = 0, deep = 0, elements = 0, side = 32, in = 16;
    std::size_t place = 0;
    for (std::size_t stage = 0; stage < counts.size(); ++stage) {
        for (int i = 0; i < counts[stage]; ++i, ++place) {
            const double stride = i == 0 ? strides[stage] : 1, out = channels[stage], after = side / stride;
            const std::size_t id = blocks.ids[place];
            if (id < 8) {
                const double wide = in * expansions[id], groups = id == 1 || id == 5 ? 2 : 1, k = id < 4 ? 3 : 5;
                const double own = wide * k * k * after * after;
                used += 1;
                deep += own;
                work += wide * in / groups * side * side + own + wide * out / groups * after * after;
                elements += wide * (side * side + after * after) + out * after * after;
            } else if (in != out || stride != 1) {
                work += in * out * after * after;
                elements += out * after * after;
            }
            in = out;
            side = after;
        }
    }
    row.insert(row.end(), {1, used, 15 + work / 1e6, deep / 1e6, elements / 1e6});
    for (const std::uint8_t id : blocks.ids)
        for (std::size_t choice = 0; choice < FbnetBlocks::choices; ++choice) row.push_back(id == choice ? 1 : 0);
}

SpaceFeatures ofaFeatures() {
    SpaceFeatures f{
        "ofa", {"one", "pixels", "side", "layers", "operations", "elements", "depthwise operations"}, {3, 4, 5}, 7};
    for (const char* scale : {"", " × pixels"})
        for (int layer = 0; layer < 20; ++layer)
            for (const char* what : {"used", "expansion", "kernel 5", "kernel 7", "expansion × kernel²"})
                f.names.push_back(fmt::format("layer {} {}{}", layer, what, scale));
    return f;
}

void ofaRow(const OfaNetwork& n, std::vector<double>& row) {
    constexpr std::array<double, 6> width{24, 32, 48, 96, 136, 192};
    constexpr std::array<double, 5> strides{2, 2, 2, 1, 2};
    const double side = static_cast<double>(n.resolution), pixels = side * side / (224 * 224);
    double layers = 0, work = 0, deep = 0, elements = 0, extent = std::ceil(side / 2);
    work += 27 * 24 * extent * extent + 24 * (9 + 24) * extent * extent;
    elements += 3 * 24 * extent * extent;
    double in = width[0];
    for (std::size_t stage = 0; stage < 5; ++stage) {
        for (std::size_t i = 0; i < n.depth[stage]; ++i) {
            const double after = i == 0 ? std::ceil(extent / strides[stage]) : extent;
            const double wide = in * n.expand[4 * stage + i], k = n.kernel[4 * stage + i], out = width[stage + 1];
            layers += 1;
            deep += wide * k * k * after * after;
            work += wide * (in * extent * extent + (k * k + out) * after * after);
            elements += wide * (extent * extent + after * after) + out * after * after;
            in = out;
            extent = after;
        }
    }
    work += 192 * 1152 * extent * extent + 1152 * 1536 + 1536 * 1000;
    row.insert(row.end(), {1, pixels, side / 224, layers, work / 1e6, elements / 1e6, deep / 1e6});
    for (const double scale : {1.0, pixels}) {
        for (std::size_t layer = 0; layer < 20; ++layer) {
            const bool used = layer % 4 < n.depth[layer / 4];
            const double k = n.kernel[layer], e = n.expand[layer];
            row.insert(row.end(), {used ? scale : 0, used ? scale * e / 6 : 0, used && k == 5 ? scale : 0,
                                   used && k == 7 ? scale : 0, used ? scale * e * k * k / (6 * 49) : 0});
        }
    }
}

SpaceFeatures hatFeatures() {
    SpaceFeatures f{"hat", {"one", "layers", "operations", "parameters"}, {1, 2}, 0};
    constexpr std::array<const char*, 7> parts{"embed", "ffn", "heads", "cross", "attends", "memory", "ffn × embed"};
    for (const char* part : parts) f.names.push_back(part);
    for (const char* part : parts) f.names.push_back(fmt::format("layers × {}", part));
    for (const char* part : {"layers²", "attends × memory", "layers × attends × memory", "heads²", "layers × heads²",
                             "layers² × ffn", "ffn²", "layers × ffn²"})
        f.names.push_back(part);
    return f;
}

void hatRow(const HatNetwork& n, std::vector<double>& row) {
    const double e = n.embed / 640, f = n.ffn / 2048, h = n.heads / 8, c = n.cross / 8, a = n.attends / 3,
                 m = n.memory / 640, l = n.layers / 6;
    const double own = 4 * 512 * n.embed + 2 * n.embed * n.ffn;
    const double both = n.decoder ? own + 2 * 512 * n.embed : own;
    row.insert(row.end(), {1,         l,         n.layers * both / 1e6,
                           own / 1e6, e,         f,
                           h,         c,         a,
                           m,         f * e,     l * e,
                           l * f,     l * h,     l * c,
                           l * a,     l * m,     l * f * e,
                           l * l,     a * m,     l * a * m,
                           h * h,     l * h * h, l * l * f,
                           f * f,     l * f * f});
}

}  // namespace

// Operators of a constant stay as long as their output is used: runtimes fold no convolutions.
NasBench201Cell foldedCell(NasBench201Cell cell) {
    std::array<bool, 4> used{false, false, false, true};
    for (std::size_t e = cell.edges.size(); e-- > 0;) {
        if (!used[static_cast<std::size_t>(cell.to[e])]) cell.edges[e] = NasBench201Cell::None;
        if (cell.edges[e] != NasBench201Cell::None) used[static_cast<std::size_t>(cell.from[e])] = true;
    }
    return cell;
}

Expected<SpaceFeatures> spaceFeatures(std::string_view space) {
    if (space == "nasbench201") return cellFeatures();
    if (space == "fbnet") return blockFeatures();
    if (space == "ofa") return ofaFeatures();
    if (space == "hat") return hatFeatures();
    return fail("edge.unknown-space", fmt::format("no features are known of the space “{}”", space.substr(0, 40)),
                "nasbench201, fbnet, ofa or hat");
}

Expected<void> appendFeatures(const SpaceFeatures& space, std::string_view code, std::vector<double>& row) {
    if (const auto colon = code.find(':'); colon != std::string_view::npos) code = code.substr(colon + 1);
    const std::size_t before = row.size();
    if (space.space == "nasbench201") {
        const auto cell = readNasBench201(code);
        if (!cell) return Unexpected(cell.error());
        cellRow(*cell, false, row);
        cellRow(foldedCell(*cell), true, row);
    } else if (space.space == "fbnet") {
        const auto blocks = readFbnet(code);
        if (!blocks) return Unexpected(blocks.error());
        blockRow(*blocks, row);
    } else if (space.space == "ofa") {
        const auto network = readOfa(code);
        if (!network) return Unexpected(network.error());
        ofaRow(*network, row);
    } else {
        const auto network = readHat(code);
        if (!network) return Unexpected(network.error());
        hatRow(*network, row);
    }
    if (row.size() - before != space.names.size()) row.resize(before + space.names.size());
    return {};
}

std::string spaceOfCode(std::string_view code) {
    if (const NetworkSpace* space = searchSpaceOf(code)) return std::string(space->id);
    if (code.starts_with("|")) return "nasbench201";
    if (code.starts_with("r=")) return "ofa";
    if (code.starts_with("encoder|") || code.starts_with("decoder|")) return "hat";
    return readFbnet(code) ? "fbnet" : "";
}

}  // namespace orrery
