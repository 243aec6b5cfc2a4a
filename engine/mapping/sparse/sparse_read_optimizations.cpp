#include "base/text/nearest.h"
#include "mapping/sparse/sparse_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::sparse {

namespace {

/// More ranks than any mapping has loops.
constexpr std::size_t mostRanks = 64;

struct Reader {
    const NestProblem& problem;
    const NestHardware& hardware;
    SparseDesign& design;
    Diagnostics& warnings;

    Expected<const DocNode*> list(const DocNode& node, std::string_view key, std::string_view what) const {
        const DocNode* found = node.find(key);
        if (!found)
            return fail("sparse.missing", fmt::format("{} has no `{}`", what, key),
                        fmt::format("`{}:` and a list", key), fmt::format("add `{}`", key), node.place());
        if (!found->isList())
            return fail("sparse.type", fmt::format("`{}` is {}", key, found->kindText()), "a list",
                        "begin each entry with `-`", found->place());
        return found;
    }

    Expected<std::size_t> level(const DocNode& name) const {
        std::vector<std::string> names;
        for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
            if (bareName(hardware.levels[l].name) == bareName(name.text)) return l;
            names.emplace_back(bareName(hardware.levels[l].name));
        }
        return fail("sparse.level", fmt::format("`{}` is no storage level", name.text), quotedList(names, "or"),
                    didYouMean(name.text, names), name.place());
    }

    /// Bits of one unit, widened until whole units fill a word of the metadata store. A value that is not given is the
    /// store's own.
    Expected<double> wordBits(const DocNode& rank, std::string_view key, double fallback, const NestLevel& storage) {
        double bits = fallback;
        const DocNode* given = rank.find(key);
        if (given) {
            const auto read = docWhole(*given, key, 0, 4096);
            if (!read) return Unexpected(read.error());
            bits = static_cast<double>(*read);
        }
        const double width = storage.metadataWidthBits;
        if (bits > width)
            return fail("sparse.word-bits",
                        fmt::format("{} bits of `{}` do not fit into {} bits of `{}`", bits, key, width, storage.name),
                        fmt::format("at most {} bits", width),
                        "raise metadata_storage_width of the level, or lower the bits",
                        given ? given->place() : rank.place());
        if (bits > 0 && std::fmod(width, bits) != 0) {
            const double asked = bits;
            while (bits < asked * 2 && std::fmod(width, bits) != 0) ++bits;
            warnings.push_back(
                warning("sparse.word-bits",
                        fmt::format("{} bits of `{}` are widened to {}, of which whole ones fill {} bits of `{}`",
                                    asked, key, bits, width, storage.name),
                        "choose a divisor of metadata_storage_width", given ? given->place() : rank.place()));
        }
        return bits;
    }

    Expected<std::vector<std::uint32_t>> flattened(const DocNode& rank) const {
        std::vector<std::uint32_t> masks;
        const DocNode* lists = rank.find("flattened_rankIDs");
        if (!lists || lists->isNull()) return masks;
        if (!lists->isList())
            return fail("sparse.type", fmt::format("`flattened-rankIDs` is {}", lists->kindText()),
                        "a list of lists of dimensions", "write [ [C, R] ]", lists->place());
        for (const DocNode& group : lists->items) {
            const auto names = docTexts(group, "flattened-rankIDs");
            if (!names) return Unexpected(names.error());
            std::uint32_t mask = 0;
            for (const std::string& name : *names) {
                const auto at = std::find(problem.dimensions.begin(), problem.dimensions.end(), name);
                if (at == problem.dimensions.end())
                    return fail("sparse.dimension", fmt::format("`{}` is no dimension of the problem", name),
                                quotedList(problem.dimensions, "or"), didYouMean(name, problem.dimensions),
                                group.place());
                mask |= 1u << (at - problem.dimensions.begin());
            }
            masks.push_back(mask);
        }
        return masks;
    }

    Expected<FormatRank> rank(const DocNode& node, const NestLevel& storage) {
        if (const auto keys =
                onlyKeys(node, "a rank", {"format", "metadata_word_bits", "payload_word_bits", "flattened_rankIDs"});
            !keys)
            return Unexpected(keys.error());
        const DocNode* name = node.find("format");
        if (!name || !name->isScalar())
            return fail("sparse.missing", "a rank has no format", "`format: CP`, for one", "add `format`",
                        node.place());
        const auto format = rankFormat(name->text);
        if (!format)
            return fail("sparse.format", fmt::format("`{}` is no format of a rank", name->text),
                        "UOP, CP, RLE, B or UB", "use one of these", name->place());
        const bool mask = *format == RankFormat::Bitmask;
        const auto metadata =
            wordBits(node, "metadata_word_bits",
                     mask ? std::min(1.0, storage.metadataWidthBits) : storage.metadataWordBits, storage);
        if (!metadata) return Unexpected(metadata.error());
        const auto payload = wordBits(node, "payload_word_bits", storage.metadataWordBits, storage);
        if (!payload) return Unexpected(payload.error());
        auto masks = flattened(node);
        if (!masks) return Unexpected(masks.error());
        return FormatRank{*format, *metadata, *payload, std::move(*masks)};
    }

    Expected<void> format(const DocNode& node, std::size_t at) {
        if (const auto keys =
                onlyKeys(node, "a format of a tensor", {"name", "ranks", "rank_application_order", "compression_rate"});
            !keys)
            return keys;
        const DocNode* name = node.find("name");
        if (!name)
            return fail("sparse.missing", "a format says not of which tensor", "`name: A`, for one", "add `name`",
                        node.place());
        const auto tensor = tensorNamed(*name, problem);
        if (!tensor) return Unexpected(tensor.error());
        const auto ranks = list(node, "ranks", "a format of a tensor");
        if (!ranks) return Unexpected(ranks.error());
        TensorFormat read;
        if (const DocNode* order = node.find("rank_application_order")) {
            if (!sameKey(order->text, "inner-to-outer") && !sameKey(order->text, "outer-to-inner"))
                return fail("sparse.order", fmt::format("`{}` is no order", order->text),
                            "inner-to-outer or outer-to-inner", "say from which end ranks are given to loops",
                            order->place());
            read.innerToOuter = sameKey(order->text, "inner-to-outer");
        }
        if ((*ranks)->items.empty() || (*ranks)->items.size() > mostRanks)
            return fail("sparse.ranks", fmt::format("a format has {} ranks", (*ranks)->items.size()),
                        fmt::format("1 to {} ranks", mostRanks), "write one rank per loop that is to be compressed",
                        (*ranks)->place());
        bool inside = false;  // an uncompressed rank has been seen further in
        for (auto item = (*ranks)->items.rbegin(); item != (*ranks)->items.rend(); ++item) {
            auto one = rank(*item, hardware.levels[at]);
            if (!one) return Unexpected(one.error());
            if (inside && compresses(one->format))
                return fail("sparse.ranks",
                            fmt::format("`{}` leaves out coordinates over an uncompressed rank", toText(one->format)),
                            "compressed ranks inside uncompressed ones", "exchange the formats", item->place());
            inside = inside || !compresses(one->format);
            read.ranks.push_back(std::move(*one));
        }
        design.levels[at].formats[*tensor] = std::move(read);
        return {};
    }

    Expected<EliminationOption> option(const DocNode& node) const {
        if (const auto keys = onlyKeys(node, "an option", {"target", "condition_on", "type"}); !keys)
            return Unexpected(keys.error());
        const DocNode* target = node.find("target");
        const DocNode* leaders = node.find("condition_on");
        if (!target || !leaders)
            return fail("sparse.missing", "an optimisation lacks `target` or `condition-on`",
                        "`target: A` and `condition-on: [B]`",
                        "say whose accesses are left out, and where which tensors are empty", node.place());
        EliminationOption read;
        const auto tensor = tensorNamed(*target, problem);
        if (!tensor) return Unexpected(tensor.error());
        read.target = *tensor;
        if (!leaders->isList())
            return fail("sparse.type", fmt::format("`condition-on` is {}", leaders->kindText()), "a list of tensors",
                        "write [ B ]", leaders->place());
        for (const DocNode& leader : leaders->items) {
            const auto one = tensorNamed(leader, problem);
            if (!one) return Unexpected(one.error());
            read.leaders |= 1u << *one;
        }
        return read;
    }

    Expected<void> action(const DocNode& node, std::size_t at) {
        if (const auto keys = onlyKeys(node, "an action optimisation", {"type", "options", "target", "condition_on"});
            !keys)
            return keys;
        const DocNode* type = node.find("type");
        ActionOptimization read;
        const std::string_view name = type && type->isScalar() ? std::string_view(type->text) : std::string_view();
        if (sameKey(name, "gating"))
            read.elimination = Elimination::Gating;
        else if (sameKey(name, "skipping"))
            read.elimination = Elimination::Skipping;
        else if (sameKey(name, "skipping-spatial") || sameKey(name, "spatial-skipping"))
            read.elimination = Elimination::SpatialSkipping;
        else if (sameKey(name, "position-skipping"))
            read.elimination = Elimination::PositionSkipping;
        else
            return fail(
                "sparse.action",
                type ? fmt::format("`{}` is no action optimisation", name) : "an action optimisation has no type",
                "gating, skipping, skipping-spatial or position-skipping",
                didYouMean(name, {"gating", "skipping", "skipping-spatial", "position-skipping"}),
                type ? type->place() : node.place());
        if (node.find("options")) {
            const auto options = list(node, "options", "an action optimisation");
            if (!options) return Unexpected(options.error());
            for (const DocNode& item : (*options)->items) {
                const auto one = option(item);
                if (!one) return Unexpected(one.error());
                read.options.push_back(*one);
            }
            if (read.options.empty())
                return fail("sparse.missing", "an action optimisation has no options", "one option at least",
                            "add one, or drop it", (*options)->place());
        } else {
            const auto one = option(node);
            if (!one) return Unexpected(one.error());
            read.options.push_back(*one);
        }
        design.levels[at].actions.push_back(std::move(read));
        return {};
    }

    Expected<void> compute(const DocNode& node) const {
        for (const DocNode& item : node.items) {
            if (const auto keys = onlyKeys(item, "a compute optimisation", {"type"}); !keys) return keys;
            const DocNode* type = item.find("type");
            const std::string_view name = type && type->isScalar() ? std::string_view(type->text) : std::string_view();
            if (sameKey(name, "gating") || sameKey(name, "gate-on-zero-operand"))
                design.gateCompute = true;
            else if (sameKey(name, "skipping") || sameKey(name, "skip-on-not-aligned-operands"))
                design.skipCompute = true;
            else
                return fail(
                    "sparse.action",
                    type ? fmt::format("`{}` is no compute optimisation", name) : "a compute optimisation has no type",
                    "gating or skipping", "use one of these", type ? type->place() : item.place());
        }
        return {};
    }

    Expected<void> target(const DocNode& node) {
        if (const auto keys = onlyKeys(
                node, "a target", {"name", "representation_format", "action_optimization", "compute_optimization"});
            !keys)
            return keys;
        const DocNode* name = node.find("name");
        if (!name || !name->isScalar())
            return fail("sparse.missing", "a target has no name", "the name of a level", "add `name`", node.place());
        const DocNode* computed = node.find("compute_optimization");
        if (computed) {
            if (bareName(name->text) != bareName(hardware.arithmetic.name))
                return fail("sparse.level", fmt::format("`{}` is not the arithmetic", name->text),
                            fmt::format("`{}`", hardware.arithmetic.name), "optimise computes where they are made",
                            name->place());
            const auto items = list(node, "compute_optimization", "a target");
            if (!items) return Unexpected(items.error());
            if (const auto read = compute(**items); !read) return read;
        }
        const DocNode* formats = node.find("representation_format");
        const DocNode* actions = node.find("action_optimization");
        if (!formats && !actions) {
            if (!computed)
                warnings.push_back(warning("sparse.nothing", fmt::format("nothing is said about `{}`", name->text),
                                           "add representation-format or action-optimization, or drop the target",
                                           node.place()));
            return {};
        }
        const auto at = level(*name);
        if (!at) return Unexpected(at.error());
        if (formats) {
            if (const auto keys = onlyKeys(*formats, "`representation-format`", {"data_spaces"}); !keys) return keys;
            const auto tensors = list(*formats, "data_spaces", "`representation-format`");
            if (!tensors) return Unexpected(tensors.error());
            for (const DocNode& item : (*tensors)->items)
                if (const auto read = format(item, *at); !read) return read;
        }
        if (actions) {
            const auto items = list(node, "action_optimization", "a target");
            if (!items) return Unexpected(items.error());
            for (const DocNode& item : (*items)->items)
                if (const auto read = action(item, *at); !read) return read;
        }
        return {};
    }
};

}  // namespace

Expected<void> readOptimizations(const DocNode& section, const NestProblem& problem, const NestHardware& hardware,
                                 SparseDesign& design, Diagnostics& warnings) {
    if (const auto keys = onlyKeys(section, "`sparse_optimizations`", {"version", "targets"}); !keys) return keys;
    Reader reader{problem, hardware, design, warnings};
    const auto targets = reader.list(section, "targets", "`sparse_optimizations`");
    if (!targets) return Unexpected(targets.error());
    for (const DocNode& target : (*targets)->items)
        if (const auto read = reader.target(target); !read) return read;
    return {};
}

}  // namespace orrery::sparse
