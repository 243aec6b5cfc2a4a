#include "base/text/nearest.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

namespace orrery {
namespace {

struct Factor {
    std::int64_t bound = 1, residual = 1;
    bool remainder = false;
};

// What the directives say of one level in one direction.
struct Block {
    bool told = false;
    std::vector<Factor> factors;            ///< per dimension
    std::vector<std::uint8_t> order;        ///< inner to outer; all dimensions once read
    std::size_t split = maxNestDimensions;  ///< loops before it lie along X
    Place place;
};

struct MappingReader {
    const NestProblem& problem;
    const NestHardware& hardware;
    Diagnostics& warnings;
    std::vector<std::array<Block, 2>> blocks;  ///< temporal, spatial
    std::vector<std::uint32_t> keeps;

    std::vector<std::string> levelNames() const {
        std::vector<std::string> names;
        for (const NestLevel& level : hardware.levels) names.push_back(level.name);
        return names;
    }

    Expected<std::size_t> level(const DocNode& directive) const {
        const DocNode* target = directive.find("target");
        if (target == nullptr || !target->isScalar()) {
            return fail("timeloop.missing", "a directive of the mapping has no target",
                        "`target`, the name of a storage level", quotedList(levelNames(), "or"), directive.place());
        }
        for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
            if (hardware.levels[l].name == target->text) return l;
        }
        if (!target->text.empty() && std::all_of(target->text.begin(), target->text.end(),
                                                 [](unsigned char c) { return std::isdigit(c) != 0; })) {
            const auto number =
                docWhole(*target, "the target", 0, static_cast<std::int64_t>(hardware.levels.size()) - 1);
            if (!number) return Unexpected(number.error());
            return static_cast<std::size_t>(*number);
        }
        const std::string hint = didYouMean(target->text, levelNames());
        return fail("timeloop.level", fmt::format("`{}` is no storage level", target->text),
                    quotedList(levelNames(), "or"), hint, target->place());
    }

    std::optional<std::uint8_t> dimension(std::string_view name) const {
        for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
            if (problem.dimensions[d] == name) return static_cast<std::uint8_t>(d);
        }
        return std::nullopt;
    }
    Unexpected noDimension(std::string_view name, const DocNode& at) const {
        return fail("timeloop.dimension", fmt::format("`{}` is no dimension of the problem", name),
                    quotedList(problem.dimensions, "or"), didYouMean(name, problem.dimensions), at.place());
    }

    // `R=3 S=1`, `R3 S1`, `K=16,15` (bound, last bound), or a list of them.
    Expected<void> factors(const DocNode& node, Block& block) const {
        const auto parts = docTexts(node, "factors");
        if (!parts) return Unexpected(parts.error());
        for (const std::string& all : *parts) {
            const std::string text = all.substr(0, all.find('#'));
            std::size_t i = 0;
            const auto digits = [&]() -> std::optional<std::int64_t> {
                std::int64_t value = 0;
                const std::size_t from = i;
                for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
                    value = std::min<std::int64_t>(value * 10 + (text[i] - '0'), std::int64_t{1} << 40);
                }
                return i == from ? std::nullopt : std::optional(value);
            };
            const auto blanks = [&] {
                while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) != 0) ++i;
            };
            while (true) {
                while (i < text.size() && (std::isspace(static_cast<unsigned char>(text[i])) != 0 || text[i] == ','))
                    ++i;
                if (i >= text.size()) break;
                const std::size_t from = i;
                while (i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_'))
                    ++i;
                const std::string name = text.substr(from, i - from);
                blanks();
                if (i < text.size() && text[i] == '=') ++i;
                blanks();
                const auto bound = digits();
                if (name.empty() || !bound) {
                    return fail("timeloop.factors", fmt::format("`{}` is no list of factors", all), "`R=3 S=1 P=14`",
                                "write a number after every dimension", node.place());
                }
                const auto d = dimension(name);
                if (!d) return noDimension(name, node);
                Factor factor{*bound, *bound, *bound == 0};
                if (i + 1 < text.size() && text[i] == ',' &&
                    std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) {
                    ++i;
                    factor.residual = *digits();
                }
                if (!factor.remainder && (factor.residual < 1 || factor.residual > factor.bound)) {
                    return fail(
                        "timeloop.factors",
                        fmt::format("the last iteration of {} covers {} of {}", name, factor.residual, factor.bound),
                        "1 up to the factor", "", node.place());
                }
                block.factors[*d] = factor;
            }
        }
        return {};
    }

    Expected<void> permutation(const DocNode& node, Block& block) const {
        const auto parts = docTexts(node, "permutation");
        if (!parts) return Unexpected(parts.error());
        std::vector<std::string> names;
        for (const std::string& part : *parts) {
            std::string word;
            const auto flush = [&] {
                if (word.empty()) return;
                if (dimension(word)) {
                    names.push_back(word);
                } else {
                    for (const char c : word) names.emplace_back(1, c);
                }
                word.clear();
            };
            for (const char c : part) {
                if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',') {
                    flush();
                } else {
                    word += c;
                }
            }
            flush();
        }
        block.order.clear();
        for (const std::string& name : names) {
            const auto d = dimension(name);
            if (!d) return noDimension(name, node);
            if (std::find(block.order.begin(), block.order.end(), *d) != block.order.end()) {
                return fail("timeloop.permutation", fmt::format("`{}` stands twice in the permutation", name),
                            "each dimension once", "remove one of the two", node.place());
            }
            block.order.push_back(*d);
        }
        return {};
    }

    Expected<void> bypass(const DocNode& directive, std::size_t l) {
        for (const bool keep : {true, false}) {
            const DocNode* node = directive.find(keep ? "keep" : "bypass");
            if (node == nullptr) continue;
            const auto names = docTexts(*node, keep ? "keep" : "bypass");
            if (!names) return Unexpected(names.error());
            for (const std::string& name : *names) {
                std::vector<std::string> known;
                std::size_t t = 0;
                for (; t < problem.tensors.size() && problem.tensors[t].name != name; ++t) {
                }
                for (const NestTensor& tensor : problem.tensors) known.push_back(tensor.name);
                if (t == problem.tensors.size()) {
                    return fail("timeloop.tensor", fmt::format("`{}` is no data space of the problem", name),
                                quotedList(known, "or"), didYouMean(name, known), node->place());
                }
                keeps[l] = keep ? keeps[l] | 1u << t : keeps[l] & ~(1u << t);
            }
        }
        return {};
    }

    Expected<void> directive(const DocNode& node) {
        if (!node.isMap()) {
            return fail("timeloop.value", fmt::format("a directive of the mapping is {}", node.kindText()),
                        "a map with `target`, `type` and `factors`", "", node.place());
        }
        static const std::vector<std::string> known{"target",
                                                    "type",
                                                    "factors",
                                                    "permutation",
                                                    "split",
                                                    "keep",
                                                    "bypass",
                                                    "passthrough",
                                                    "no_link_transfer",
                                                    "no_multicast_no_reduction",
                                                    "no_temporal_reuse",
                                                    "rmw_on_first_writeback",
                                                    "stream",
                                                    "temporal",
                                                    "spatial"};
        for (std::size_t i = 0; i < node.keys.size(); ++i) {
            if (std::any_of(known.begin(), known.end(),
                            [&](const std::string& k) { return sameKey(k, node.keys[i]); })) {
                continue;
            }
            return fail("timeloop.key", fmt::format("`{}` is no part of a mapping's directive", node.keys[i]),
                        quotedList(known, "or"), didYouMean(node.keys[i], known), node.items[i].place());
        }
        for (const char* key : {"no_link_transfer", "no_multicast_no_reduction", "no_temporal_reuse", "passthrough",
                                "rmw_on_first_writeback"}) {
            if (const DocNode* ignored = node.find(key)) {
                warnings.push_back(warning("timeloop.ignored", fmt::format("`{}` is not modelled", key),
                                           "counts are those without it", ignored->place()));
            }
        }
        const auto l = level(node);
        if (!l) return Unexpected(l.error());
        const DocNode* type = node.find("type");
        const std::string kind = type == nullptr ? "" : type->text;
        if (kind == "datatype" || kind == "bypass" || kind == "dataspace") return bypass(node, *l);
        if (kind != "temporal" && kind != "spatial") {
            return fail("timeloop.directive", fmt::format("`{}` is no type of directive", kind),
                        "`temporal`, `spatial`, `datatype` or `bypass`",
                        didYouMean(kind, {"temporal", "spatial", "datatype", "bypass"}),
                        type == nullptr ? node.place() : type->place());
        }
        Block& block = blocks[*l][kind == "spatial"];
        block.told = true;
        block.place = node.place(hardware.levels[*l].name);
        if (const DocNode* f = node.find("factors")) {
            if (const auto ok = factors(*f, block); !ok) return ok;
        }
        if (const DocNode* p = node.find("permutation")) {
            if (const auto ok = permutation(*p, block); !ok) return ok;
        }
        if (const DocNode* s = node.find("split")) {
            const auto split = docWhole(*s, "split", 0, maxNestDimensions);
            if (!split) return Unexpected(split.error());
            block.split = static_cast<std::size_t>(*split);
        }
        return {};
    }

    // A factor 0 takes what the other factors of its dimension leave.
    Expected<void> remainders() {
        for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
            std::int64_t product = 1;
            Factor* open = nullptr;
            const Place* place = nullptr;
            for (auto& level : blocks) {
                for (Block& block : level) {
                    Factor& factor = block.factors[d];
                    if (factor.remainder) {
                        if (open != nullptr && problem.extents[d] > 1) {
                            return fail("timeloop.factors",
                                        fmt::format("two factors of {} are 0", problem.dimensions[d]),
                                        "one factor that takes the rest", "write all but one of them out", block.place);
                        }
                        open = &factor;
                        place = &block.place;
                        factor.bound = factor.residual = 1;
                    } else {
                        product = std::min<std::int64_t>(product * factor.bound, std::int64_t{1} << 40);
                    }
                }
            }
            if (open == nullptr) continue;
            if (problem.extents[d] % product != 0) {
                return fail("timeloop.factors",
                            fmt::format("the factors of {} multiply to {}, which does not divide {}",
                                        problem.dimensions[d], product, problem.extents[d]),
                            "factors that divide the size",
                            "correct them, or write the last one out with its remainder", *place);
            }
            open->bound = open->residual = problem.extents[d] / product;
        }
        return {};
    }

    Expected<void> checkProducts(const Place& all) const {
        for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
            long double at = 0, product = 1;
            const Place* place = &all;
            for (std::size_t l = blocks.size(); l-- > 0;) {
                for (const Block& block : blocks[l]) {
                    at = at * block.factors[d].bound + (block.factors[d].residual - 1);
                    product *= block.factors[d].bound;
                    if (block.factors[d].bound > 1) place = &block.place;
                }
            }
            if (at + 1 == problem.extents[d]) continue;
            return fail("timeloop.factors",
                        fmt::format("the factors of {} multiply to {}, the problem has {}", problem.dimensions[d],
                                    static_cast<double>(product), problem.extents[d]),
                        fmt::format("factors of {} whose product is {}", problem.dimensions[d], problem.extents[d]),
                        "a factor 0 takes what the others leave", *place);
        }
        return {};
    }

    NestMapping mapping() const {
        NestMapping result;
        for (std::size_t l = 0; l < blocks.size(); ++l) {
            LevelMapping level;
            level.keeps = keeps[l];
            for (const std::size_t direction : {std::size_t{1}, std::size_t{0}}) {
                const Block& block = blocks[l][direction];
                if (!block.told) continue;
                std::vector<std::uint8_t> order = block.order;
                for (std::uint8_t d = 0; d < problem.dimensions.size(); ++d) {
                    if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
                }
                for (std::size_t i = 0; i < order.size(); ++i) {
                    const Factor& factor = block.factors[order[i]];
                    const LoopKind kind = direction == 0    ? LoopKind::Temporal
                                          : i < block.split ? LoopKind::SpatialX
                                                            : LoopKind::SpatialY;
                    level.loops.push_back({order[i], kind, factor.bound, factor.residual});
                }
            }
            result.levels.push_back(std::move(level));
        }
        return result;
    }
};

}  // namespace

Expected<NestMapping> readTimeloopMapping(const DocNode& root, const NestProblem& problem, const NestHardware& hardware,
                                          TimeloopPlaces& places, Diagnostics& warnings) {
    const DocNode* part = root.find("mapping");
    if (part == nullptr || !part->isList()) {
        return fail("timeloop.missing", part == nullptr ? "there is no mapping" : "the mapping is no list",
                    "`mapping:`, a list of directives", "give the file with the mapping too", root.place("mapping"));
    }
    if (problem.dimensions.size() > maxNestDimensions || problem.tensors.size() > maxNestTensors) {
        return fail("mapping.problem",
                    fmt::format("the problem has {} dimensions and {} tensors", problem.dimensions.size(),
                                problem.tensors.size()),
                    fmt::format("at most {} and {}", maxNestDimensions, maxNestTensors), "", root.place("problem"));
    }
    MappingReader reader{problem, hardware, warnings, {}, std::vector<std::uint32_t>(hardware.levels.size(), ~0u)};
    Block empty;
    empty.factors.resize(problem.dimensions.size());
    reader.blocks.assign(hardware.levels.size(), {empty, empty});
    for (const DocNode& node : part->items) {
        if (const auto ok = reader.directive(node); !ok) return Unexpected(ok.error());
    }
    if (const auto ok = reader.remainders(); !ok) return Unexpected(ok.error());
    if (const auto ok = reader.checkProducts(part->place("mapping")); !ok) return Unexpected(ok.error());
    places = {part->place("mapping"), {}, {}};
    for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
        const auto& [temporal, spatial] = reader.blocks[l];
        places.temporal.push_back(temporal.told ? temporal.place : spatial.told ? spatial.place : places.mapping);
        places.spatial.push_back(spatial.told ? spatial.place : places.temporal.back());
        if (!temporal.told && !spatial.told) {
            warnings.push_back(warning("timeloop.level",
                                       fmt::format("the mapping has no loops at {}", hardware.levels[l].name),
                                       "all its factors are taken as 1", part->place(hardware.levels[l].name)));
        }
    }
    return reader.mapping();
}

}  // namespace orrery
