#include "mapping/mapspace_read.h"

#include "base/text/words.h"
#include "mapping/timeloop/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace orrery {
namespace {

template <class Items, class Name>
std::string listOf(const Items& items, Name name) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + std::string(name(item));
    return text;
}

class Reader {
public:
    Reader(const NestProblem& problem, const NestHardware& hardware) : problem_(problem), hardware_(hardware) {
        out_.levels.resize(hardware.levels.size());
    }

    Expected<void> section(const DocNode& node) {
        const DocNode* list = node.isList() ? &node : nullptr;
        if (node.isMap()) {
            list = node.find("targets");
            if (const DocNode* name = node.find("constraints"); name && !list) {
                if (name->isList()) {
                    list = name;
                } else if (name->isScalar()) {
                    list = node.find("constraints_" + name->text);
                    if (!list)
                        return fail("mapspace.constraints", fmt::format("there is no `constraints_{}`", name->text),
                                    "the list that `constraints` names", {}, name->place());
                }
            }
            if (const DocNode* kind = node.find("template"); kind && kind->isScalar()) {
                if (kind->text != "uber" && kind->text != "ruby")
                    return fail("mapspace.template", fmt::format("unknown template `{}`", kind->text),
                                "`uber` (factors divide) or `ruby` (they need not)", {}, kind->place());
                out_.imperfect = kind->text == "ruby";
            }
        }
        if (!list || list->isNull()) return {};
        if (!list->isList())
            return fail("mapspace.constraints", fmt::format("constraints are {}", list->kindText()), "a list", {},
                        list->place());
        for (const DocNode& item : list->items) {
            if (!item.isMap())
                return fail("mapspace.constraint", fmt::format("a constraint is {}", item.kindText()),
                            "a map with `target` and `type`", {}, item.place());
            const DocNode* nested = item.find("constraints");
            if (!nested) {
                if (auto ok = single(item, item); !ok) return ok;
                continue;
            }
            for (const DocNode& each : nested->items) {
                if (auto ok = single(item, each); !ok) return ok;
            }
        }
        return {};
    }

    MapspaceConstraints take() { return std::move(out_); }

private:
    Expected<std::size_t> level(const DocNode& target) const {
        const DocNode* name = target.findAny({"target", "name"});
        if (!name || !name->isScalar())
            return fail("mapspace.target", "a constraint does not say for which level it is", "`target`", {},
                        target.place());
        for (std::size_t l = 0; l < hardware_.levels.size(); ++l) {
            if (hardware_.levels[l].name == name->text) return l;
        }
        const auto number = wholeIn(name->text);
        if (number && *number >= 0 && *number < static_cast<std::int64_t>(hardware_.levels.size()))
            return static_cast<std::size_t>(*number);
        return fail("mapspace.target", fmt::format("there is no storage level `{}`", name->text),
                    listOf(hardware_.levels, [](const NestLevel& l) { return l.name; }), {}, name->place());
    }

    Expected<std::uint8_t> dimension(std::string_view name, const DocNode& at) const {
        const auto found = std::find(problem_.dimensions.begin(), problem_.dimensions.end(), name);
        if (found != problem_.dimensions.end()) return static_cast<std::uint8_t>(found - problem_.dimensions.begin());
        return fail("mapspace.dimension", fmt::format("the problem has no dimension `{}`", name),
                    listOf(problem_.dimensions, [](const std::string& d) { return d; }), {}, at.place());
    }

    Expected<void> single(const DocNode& target, const DocNode& constraint) {
        const DocNode* type = constraint.find("type");
        if (!type || !type->isScalar())
            return fail("mapspace.type", "a constraint has no type",
                        "`temporal`, `spatial`, `datatype`, `bypass` or `utilization`", {}, constraint.place());
        const DocNode* inner = constraint.find("attributes");
        const DocNode& values = inner ? *inner : constraint;
        const auto at = level(target);
        if (!at) return tl::unexpected(at.error());
        LevelConstraint& into = out_.levels[*at];
        if (type->text == "temporal" || type->text == "spatial")
            return loops(values, constraint, type->text == "spatial" ? into.spatial : into.temporal);
        if (type->text == "datatype" || type->text == "bypass" || type->text == "bypassing") {
            into.place = constraint.place();
            if (auto ok = tensors(values.find("keep"), into.keep, into.bypass); !ok) return ok;
            return tensors(values.find("bypass"), into.bypass, into.keep);
        }
        if (type->text == "utilization" || type->text == "parallelism") {
            const DocNode* least = values.find("min");
            if (!least)
                return fail("mapspace.utilisation", "a constraint of utilisation has no `min`", "`min: 0.5`", {},
                            constraint.place());
            const auto value = docNumber(*least, "least utilisation");
            if (!value) return tl::unexpected(value.error());
            if (*value < 0 || *value > 1)
                return fail("mapspace.utilisation", fmt::format("a least utilisation of {}", *value), "0 to 1", {},
                            least->place());
            out_.minParallelism = *value;
            return {};
        }
        return fail("mapspace.type", fmt::format("unknown type of constraint `{}`", type->text),
                    "`temporal`, `spatial`, `datatype`, `bypass` or `utilization`", {}, type->place());
    }

    Expected<void> tensors(const DocNode* names, std::uint32_t& into, std::uint32_t other) const {
        if (!names || names->isNull()) return {};
        const auto list = docTexts(*names, "tensors");
        if (!list) return tl::unexpected(list.error());
        for (const std::string& name : *list) {
            const auto found = std::find_if(problem_.tensors.begin(), problem_.tensors.end(),
                                            [&](const NestTensor& tensor) { return tensor.name == name; });
            if (found == problem_.tensors.end())
                return fail("mapspace.tensor", fmt::format("the problem has no tensor `{}`", name),
                            listOf(problem_.tensors, [](const NestTensor& t) { return t.name; }), {}, names->place());
            const std::uint32_t bit = 1u << (found - problem_.tensors.begin());
            if (other & bit)
                return fail("mapspace.conflict", fmt::format("`{}` shall both be kept and pass by here", name),
                            "one of the two", "A constraint of the architecture may contradict one of the mapspace.",
                            names->place());
            into |= bit;
        }
        return {};
    }

    Expected<void> loops(const DocNode& values, const DocNode& constraint, LoopConstraint& into) const {
        into.place = constraint.place();
        if (const DocNode* node = values.find("factors"); node && !node->isNull()) {
            std::string text;
            const auto list = docTexts(*node, "factors");
            if (!list) return tl::unexpected(list.error());
            for (const std::string& part : *list) text += part + " ";
            if (auto ok = factors(text, *node, into); !ok) return ok;
        }
        if (const DocNode* node = values.find("permutation"); node && !node->isNull()) {
            if (!into.innermost.empty() || !into.outermost.empty())
                return fail("mapspace.conflict", "the order of these loops is constrained twice", "one `permutation`",
                            "A constraint of the architecture may contradict one of the mapspace.", node->place());
            const auto list = docTexts(*node, "permutation");
            if (!list) return tl::unexpected(list.error());
            if (auto ok = order(*list, *node, into); !ok) return ok;
        }
        const DocNode* split = constraint.find("split");
        if (!split) split = values.find("split");
        if (split) {
            const auto value = docWhole(*split, "split", 0, 1000000);
            if (!value) return tl::unexpected(value.error());
            into.split = static_cast<std::size_t>(*value);
        }
        return {};
    }

    /// `R1 S=3 K<=16`, blanks anywhere.
    Expected<void> factors(std::string_view text, const DocNode& node, LoopConstraint& into) const {
        into.factors.resize(problem_.dimensions.size(), 0);
        into.maxFactors.resize(problem_.dimensions.size(), 0);
        const auto isName = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
        const auto isDigit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
        std::size_t at = 0;
        const auto skip = [&] {
            while (at < text.size() && (text[at] == ' ' || text[at] == ',' || text[at] == '\t')) ++at;
        };
        for (skip(); at < text.size(); skip()) {
            const std::size_t begin = at;
            while (at < text.size() && isName(text[at])) ++at;
            const std::string_view name = text.substr(begin, at - begin);
            skip();
            const bool most = text.substr(at, 2) == "<=";
            if (most)
                at += 2;
            else if (at < text.size() && text[at] == '=')
                ++at;
            skip();
            const std::size_t digits = at;
            while (at < text.size() && isDigit(text[at])) ++at;
            std::int64_t value = 0;
            const auto read = std::from_chars(text.data() + digits, text.data() + at, value);
            if (name.empty() || digits == at || read.ec != std::errc())
                return fail("mapspace.factors", fmt::format("`{}` is no factor", text.substr(begin, 16)),
                            "a dimension and a number: `C4`, `C=4` or `C<=4`", {}, node.place());
            const auto d = dimension(name, node);
            if (!d) return tl::unexpected(d.error());
            if (most && value < 1)
                return fail("mapspace.factors", fmt::format("{} may be at most {}", name, value), "1 or more", {},
                            node.place());
            auto& slot = (most ? into.maxFactors : into.factors)[*d];
            if (slot != 0)
                return fail("mapspace.conflict", fmt::format("the factor of {} is constrained twice here", name),
                            "one factor", "A constraint of the architecture may contradict one of the mapspace.",
                            node.place());
            const std::int64_t extent = problem_.extents[*d];
            slot = most ? value : value == 0 ? extent : std::min(value, extent);
        }
        return {};
    }

    Expected<void> order(const std::vector<std::string>& list, const DocNode& node, LoopConstraint& into) const {
        std::vector<std::string> names;
        if (list.size() == 1) {
            // Letters in a row, or names between commas.
            const std::string& text = list.front();
            const bool separated = text.find(',') != std::string::npos;
            std::string name;
            for (const char c : text + ",") {
                const bool blank = c == ',' || std::isspace(static_cast<unsigned char>(c));
                if (!blank) name += c;
                if (!name.empty() && (separated ? c == ',' : true)) names.push_back(std::exchange(name, {}));
            }
        } else {
            names = list;
        }
        bool after = false;
        for (const std::string& name : names) {
            if (name == "*") {
                after = true;
                continue;
            }
            const auto d = dimension(name, node);
            if (!d) return tl::unexpected(d.error());
            (after ? into.outermost : into.innermost).push_back(*d);
        }
        return {};
    }

    const NestProblem& problem_;
    const NestHardware& hardware_;
    MapspaceConstraints out_;
};

}  // namespace

Expected<MapspaceConstraints> readConstraints(const DocNode& root, const NestProblem& problem,
                                              const NestHardware& hardware) {
    Reader reader(problem, hardware);
    for (const std::string_view key :
         {"architecture_constraints", "arch_constraints", "constraints", "mapspace_constraints", "mapspace"}) {
        const DocNode* node = root.find(key);
        if (!node || node->isNull()) continue;
        if (auto ok = reader.section(*node); !ok) return tl::unexpected(std::move(ok.error()));
    }
    // v1 to v3 nest them in the architecture too.
    for (const std::string_view key : {"architecture", "arch"}) {
        const DocNode* outer = root.find(key);
        const DocNode* node = outer && outer->isMap() ? outer->find("constraints") : nullptr;
        if (!node || node->isNull()) continue;
        if (auto ok = reader.section(*node); !ok) return tl::unexpected(std::move(ok.error()));
    }
    return reader.take();
}

bool asksForMapper(const DocNode& root) {
    const DocNode* mapper = root.find("mapper");
    return mapper && mapper->isMap();
}

Expected<MapperOptions> readMapperOptions(const DocNode& root) {
    MapperOptions options;
    const DocNode* mapper = root.find("mapper");
    if (!mapper || !mapper->isMap()) return options;
    if (const DocNode* node = mapper->find("algorithm"); node && node->isScalar()) {
        const std::string& name = node->text;
        // Timeloop's hybrid draws factors and walks orders; annealing is what does best of ours at that.
        if (name == "random") {
            options.kind = MapperKind::RandomPruned;
        } else if (name == "hybrid") {
            options.kind = MapperKind::Annealing;
        } else if (const auto kind = mapperKind(name)) {
            options.kind = *kind;
        } else {
            return fail(
                "mapper.algorithm", fmt::format("unknown algorithm `{}`", name),
                "`exhaustive`, `linear-pruned`, `random-pruned`, `random`, `hybrid`, `loop-order`, `annealing`, "
                "`genetic` or `optimal`",
                {}, node->place());
        }
    }
    if (const DocNode* node = mapper->findAny({"optimization-metrics", "optimization-metric"});
        node && !node->isNull()) {
        const auto list = docTexts(*node, "objectives");
        if (!list) return tl::unexpected(list.error());
        std::vector<MapObjective> objectives;
        for (const std::string& name : *list) {
            const auto objective = mapObjective(name);
            if (!objective)
                return fail("mapper.objective", fmt::format("unknown objective `{}`", name),
                            "`delay`, `energy`, `edp` or `last-level-accesses`", {}, node->place());
            objectives.push_back(*objective);
        }
        if (objectives.size() > 4) objectives.resize(4);
        if (!objectives.empty()) options.objectives = objectives;
    }
    const auto whole = [&](std::initializer_list<std::string_view> names, std::uint64_t& into) -> Expected<void> {
        const DocNode* node = mapper->findAny(names);
        if (!node || node->isNull()) return {};
        const auto value = docWhole(*node, *names.begin(), 0, 1000000000000);
        if (!value) return tl::unexpected(value.error());
        into = static_cast<std::uint64_t>(*value);
        return {};
    };
    if (auto ok = whole({"search-size"}, options.evaluations); !ok) return tl::unexpected(ok.error());
    if (auto ok = whole({"timeout"}, options.timeout); !ok) return tl::unexpected(ok.error());
    if (auto ok = whole({"victory-condition"}, options.victory); !ok) return tl::unexpected(ok.error());
    if (auto ok = whole({"random-seed", "seed"}, options.seed); !ok) return tl::unexpected(ok.error());
    return options;
}

}  // namespace orrery
