#include "base/text/nearest.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

namespace orrery {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 31;

struct Coefficients {
    std::map<std::string, const DocNode*> values;  ///< name → a number, or the name of another one

    Expected<std::int64_t> resolve(const std::string& name, const DocNode& used) const {
        std::set<std::string> seen;
        std::string at = name;
        for (;;) {
            if (!seen.insert(at).second) {
                return fail("timeloop.projection", fmt::format("the coefficient {} is defined by itself", name),
                            "a coefficient that ends at a number", "break the circle of names", used.place(name));
            }
            const auto found = values.find(at);
            if (found == values.end()) {
                return fail("timeloop.projection", fmt::format("`{}` is no coefficient", at),
                            "a coefficient of the shape", didYouMean(at, names()), used.place(name));
            }
            const DocNode& value = *found->second;
            if (value.isScalar() && values.contains(value.text)) {
                at = value.text;
                continue;
            }
            return docWhole(value, fmt::format("the coefficient {}", at), 1, largest);
        }
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [name, value] : values) all.push_back(name);
        return all;
    }
};

struct ShapeReader {
    NestProblem& problem;
    Coefficients coefficients;

    std::optional<std::uint8_t> dimension(std::string_view name) const {
        for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
            if (problem.dimensions[d] == name) return static_cast<std::uint8_t>(d);
        }
        return std::nullopt;
    }

    Expected<ProjectionTerm> term(const DocNode& node) const {
        const auto parts = docTexts(node, "a term of a projection");
        if (!parts) return Unexpected(parts.error());
        const auto notAffine = [&](const std::string& why) {
            return fail("timeloop.projection", fmt::format("the projection is not affine: {}", why),
                        "a sum of dimensions, each with one coefficient: [ [P, Wstride], [R, Wdilation] ]",
                        "write products of dimensions as dimensions of their own", node.place());
        };
        if (parts->empty() || parts->size() > 2) return notAffine(fmt::format("a term has {} factors", parts->size()));
        const auto first = dimension(parts->front());
        if (!first) {
            if (parts->front().find_first_of("*+/%()^ ") != std::string::npos) {
                return notAffine(fmt::format("`{}` is an expression", parts->front()));
            }
            return fail("timeloop.dimension", fmt::format("`{}` is no dimension", parts->front()),
                        quotedList(problem.dimensions, "or"), didYouMean(parts->front(), problem.dimensions),
                        node.place());
        }
        ProjectionTerm result{*first, 1};
        if (parts->size() == 2) {
            if (dimension(parts->back())) return notAffine(fmt::format("{} × {}", parts->front(), parts->back()));
            DocNode number = node;
            number.kind = DocNode::Kind::Scalar;
            number.text = parts->back();
            const auto value = parts->back().find_first_not_of("0123456789") == std::string::npos
                                   ? docWhole(number, "the coefficient", 1, largest)
                                   : coefficients.resolve(parts->back(), node);
            if (!value) return Unexpected(value.error());
            result.coefficient = *value;
        }
        return result;
    }

    // One coordinate: a name (`M`), a term with its coefficient (`[P, Wstride]` inside a list), or a list of terms.
    Expected<TensorRank> rank(const DocNode& node) const {
        TensorRank result;
        std::vector<const DocNode*> terms;
        const bool sum = node.isList() && !node.items.empty() && node.items.front().isList();
        if (sum) {
            for (const DocNode& item : node.items) terms.push_back(&item);
        } else {
            terms.push_back(&node);
        }
        if (node.isNull() || (node.isList() && node.items.empty())) return result;
        for (const DocNode* item : terms) {
            const auto one = term(*item);
            if (!one) return Unexpected(one.error());
            result.terms.push_back(*one);
            result.name += (result.name.empty() ? "" : "+") + problem.dimensions[one->dimension];
        }
        return result;
    }

    Expected<NestTensor> tensor(const DocNode& node) const {
        NestTensor result;
        const DocNode* name = node.find("name");
        const DocNode* projection = node.find("projection");
        if (name == nullptr || !name->isScalar() || projection == nullptr || !projection->isList()) {
            return fail("timeloop.missing", "a data space has no name or no projection",
                        "`name` and `projection`, a list with one entry per coordinate", "", node.place());
        }
        result.name = name->text;
        if (const DocNode* written = node.find("read-write")) {
            const auto is = docBool(*written, "read-write");
            if (!is) return Unexpected(is.error());
            result.written = *is;
        }
        for (const DocNode& item : projection->items) {
            auto one = rank(item);
            if (!one) return Unexpected(one.error());
            if (!one->terms.empty()) result.ranks.push_back(std::move(*one));
        }
        return result;
    }
};

// The shape that Timeloop takes where none is given.
void cnnLayer(NestProblem& problem, std::int64_t wStride, std::int64_t hStride, std::int64_t wDilation,
              std::int64_t hDilation) {
    enum : std::uint8_t { R, S, P, Q, C, K, N };
    problem.name = "CNN-Layer";
    problem.dimensions = {"R", "S", "P", "Q", "C", "K", "N"};
    const auto plain = [](const char* name, std::uint8_t d) { return TensorRank{name, {{d, 1}}}; };
    problem.tensors = {
        {"Weights", {plain("C", C), plain("K", K), plain("R", R), plain("S", S)}, false},
        {"Inputs",
         {plain("N", N),
          plain("C", C),
          {"R+P", {{R, wDilation}, {P, wStride}}},
          {"S+Q", {{S, hDilation}, {Q, hStride}}}},
         false},
        {"Outputs", {plain("N", N), plain("K", K), plain("Q", Q), plain("P", P)}, true},
    };
}

Expected<void> readShape(const DocNode& shape, ShapeReader& reader) {
    static const std::vector<std::string> known{"name", "dimensions", "data-spaces", "coefficients", "version"};
    for (std::size_t i = 0; i < shape.keys.size(); ++i) {
        bool is = false;
        for (const std::string& key : known) is = is || sameKey(key, shape.keys[i]);
        if (is) continue;
        const bool flatten = shape.keys[i] == "flatten";
        return fail("timeloop.key", fmt::format("`{}` is no part of a shape", shape.keys[i]), quotedList(known, "or"),
                    flatten ? "flattened dimensions are not affine; map their parts one by one"
                            : didYouMean(shape.keys[i], known),
                    shape.items[i].place());
    }
    if (const DocNode* name = shape.find("name")) reader.problem.name = name->text;
    const DocNode* dimensions = shape.find("dimensions");
    const DocNode* spaces = shape.find("data-spaces");
    if (dimensions == nullptr || spaces == nullptr || !spaces->isList()) {
        return fail("timeloop.missing", "the shape has no dimensions or no data spaces",
                    "`dimensions`, a list of names, and `data-spaces`, a list", "", shape.place());
    }
    const auto names = docTexts(*dimensions, "dimensions");
    if (!names) return Unexpected(names.error());
    if (std::set<std::string>(names->begin(), names->end()).size() != names->size()) {
        return fail("timeloop.dimension", "a dimension stands twice in the shape", "each name once", "",
                    dimensions->place());
    }
    reader.problem.dimensions = *names;
    for (const DocNode& space : spaces->items) {
        auto tensor = reader.tensor(space);
        if (!tensor) return Unexpected(tensor.error());
        reader.problem.tensors.push_back(std::move(*tensor));
    }
    return {};
}

}  // namespace

Expected<NestProblem> readTimeloopProblem(const DocNode& root, Diagnostics& warnings) {
    const DocNode* part = root.find("problem");
    if (part == nullptr || !part->isMap()) {
        return fail("timeloop.missing", "there is no problem", "`problem:` with a shape and the size of each dimension",
                    "give the file with the problem too", root.place("problem"));
    }
    NestProblem problem;
    ShapeReader reader{problem, {}};
    const DocNode* shape = part->find("shape");
    const DocNode& instance = part->find("instance") != nullptr ? *part->find("instance") : *part;
    if (shape != nullptr && shape->isMap()) {
        if (const DocNode* defaults = shape->find("coefficients"); defaults != nullptr && defaults->isList()) {
            for (const DocNode& one : defaults->items) {
                if (one.find("name") == nullptr || one.find("default") == nullptr) {
                    return fail("timeloop.missing", "a coefficient has no name or no default", "`name` and `default`",
                                "", one.place());
                }
                reader.coefficients.values[one.find("name")->text] = one.find("default");
            }
        }
        for (auto& [name, value] : reader.coefficients.values) {
            if (const DocNode* given = instance.find(name)) value = given;
        }
        if (const auto done = readShape(*shape, reader); !done) return Unexpected(done.error());
    } else {
        std::array<std::int64_t, 4> given{1, 1, 1, 1};
        const std::array<const char*, 4> names{"Wstride", "Hstride", "Wdilation", "Hdilation"};
        for (std::size_t i = 0; i < names.size(); ++i) {
            const DocNode* node = instance.find(names[i]);
            if (node == nullptr) continue;
            reader.coefficients.values[names[i]] = node;
            const auto value = docWhole(*node, names[i], 1, largest);
            if (!value) return Unexpected(value.error());
            given[i] = *value;
        }
        cnnLayer(problem, given[0], given[1], given[2], given[3]);
    }
    problem.extents.assign(problem.dimensions.size(), 0);
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        const DocNode* extent = instance.find(problem.dimensions[d]);
        if (extent == nullptr) {
            return fail("timeloop.missing", fmt::format("the dimension {} has no size", problem.dimensions[d]),
                        fmt::format("`{}: …` in the problem's instance", problem.dimensions[d]),
                        "a dimension that does not matter is 1", instance.place(problem.dimensions[d]));
        }
        const auto value = docWhole(*extent, fmt::format("the size of {}", problem.dimensions[d]), 1, largest);
        if (!value) return Unexpected(value.error());
        problem.extents[d] = *value;
    }
    static const std::vector<std::string> others{
        "shape",       "instance", "version", "densities", "commonDensities", "layerName",       "name",
        "data-spaces", "Wstride",  "Hstride", "Wdilation", "Hdilation",       "common-densities"};
    for (std::size_t i = 0; i < instance.keys.size(); ++i) {
        bool known =
            reader.dimension(instance.keys[i]).has_value() || reader.coefficients.values.contains(instance.keys[i]);
        for (const std::string& other : others) known = known || sameKey(other, instance.keys[i]);
        if (known) continue;
        std::vector<std::string> names = problem.dimensions;
        for (const std::string& name : reader.coefficients.names()) names.push_back(name);
        return fail("timeloop.dimension",
                    fmt::format("`{}` is neither a dimension nor a coefficient", instance.keys[i]),
                    quotedList(names, "or"), didYouMean(instance.keys[i], names), instance.items[i].place());
    }
    if (const DocNode* name = part->find("layerName")) problem.name = name->text;
    (void)warnings;
    return problem;
}

}  // namespace orrery
