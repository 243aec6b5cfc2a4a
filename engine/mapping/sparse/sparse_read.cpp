#include "mapping/sparse/sparse_read.h"

#include "base/text/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {

namespace sparse {

std::string_view bareName(std::string_view name) {
    if (const auto dot = name.rfind('.'); dot != std::string_view::npos && name.find("..") == std::string_view::npos)
        name.remove_prefix(dot + 1);
    return name.substr(0, name.find('['));
}

Expected<std::uint8_t> tensorNamed(const DocNode& node, const NestProblem& problem) {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        if (node.isScalar() && problem.tensors[t].name == node.text) return static_cast<std::uint8_t>(t);
        names.push_back(problem.tensors[t].name);
    }
    const std::string is = node.isScalar() ? fmt::format("`{}`", node.text) : std::string(node.kindText());
    return fail("sparse.tensor", fmt::format("{} is no tensor of the problem", is), quotedList(names, "or"),
                node.isScalar() ? didYouMean(node.text, names) : "write the name of one tensor", node.place());
}

Expected<void> onlyKeys(const DocNode& node, std::string_view what, std::initializer_list<std::string_view> known) {
    if (!node.isMap())
        return fail("sparse.type", fmt::format("{} is {}", what, node.kindText()), "a map", "write keys and values",
                    node.place());
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        if (std::any_of(known.begin(), known.end(), [&](std::string_view name) { return sameKey(name, node.keys[i]); }))
            continue;
        const std::vector<std::string> names(known.begin(), known.end());
        return fail("sparse.key", fmt::format("{} has no `{}`", what, node.keys[i]), quotedList(names, "or"),
                    didYouMean(node.keys[i], names), node.items[i].place(node.keys[i]));
    }
    return {};
}

namespace {

Expected<double> share(const DocNode& node) {
    const auto density = docNumber(node, "a density");
    if (!density) return Unexpected(density.error());
    if (*density < 0 || *density > 1)
        return fail("sparse.density", fmt::format("a density is {}", *density), "a number from 0 to 1",
                    "give nonzeros per word, not percent and not sparsity", node.place());
    return *density;
}

Expected<DensityModel> densityOf(const DocNode& node, const TileShape& tensor) {
    DensityModel model;
    if (node.isScalar()) {
        const auto density = share(node);
        if (!density) return Unexpected(density.error());
        model.density = *density;
        return model;
    }
    if (const auto keys =
            onlyKeys(node, "a density",
                     {"distribution", "density", "band_width", "file", "data_file_path", "workload_tensor_size"});
        !keys)
        return Unexpected(keys.error());
    const DocNode* kind = node.find("distribution");
    if (!kind || !kind->isScalar())
        return fail("sparse.distribution", "a density says not how nonzeros are spread",
                    "`distribution: hypergeometric`, for one", "add `distribution`, or write a plain number",
                    node.place());
    std::string name = kind->text;
    std::replace(name.begin(), name.end(), '_', '-');
    const bool actual = name == "actual-data" || name == "real-data";
    const std::vector<std::string> names{"fixed-structured", "hypergeometric", "banded", "actual-data"};
    if (name == "fixed-structured" || name == "fixed")
        model.kind = DensityKind::FixedStructured;
    else if (name == "hypergeometric" || name == "uniform")
        model.kind = DensityKind::Hypergeometric;
    else if (name == "banded")
        model.kind = DensityKind::Banded;
    else if (actual)
        model.kind = DensityKind::Actual;
    else
        return fail("sparse.distribution", fmt::format("`{}` is no distribution", kind->text), quotedList(names, "or"),
                    didYouMean(name, names), kind->place());

    if (model.kind == DensityKind::FixedStructured || model.kind == DensityKind::Hypergeometric) {
        const DocNode* value = node.find("density");
        if (!value)
            return fail("sparse.density", fmt::format("`{}` needs a density", name),
                        "`density:` and a number from 0 to 1", "add `density`", node.place());
        const auto density = share(*value);
        if (!density) return Unexpected(density.error());
        model.density = *density;
    } else if (model.kind == DensityKind::Banded) {
        constexpr std::int64_t longest = 1'000'000;
        if (tensor.ranks != 2 || tensor.extents[0] > longest || tensor.extents[1] > longest)
            return fail("sparse.banded", "a banded tensor has two ranks",
                        fmt::format("two ranks of at most {} coordinates", longest),
                        "use another distribution for this tensor", kind->place());
        if (const DocNode* width = node.find("band_width")) {
            const auto band = docWhole(*width, "a band width", 0, longest);
            if (!band) return Unexpected(band.error());
            model.bandWidth = *band;
        }
    } else {
        const DocNode* file = node.findAny({"file", "data_file_path"});
        if (!file || !file->isScalar())
            return fail("sparse.data", "actual data need a file", "`file:` and a path", "add `file`", node.place());
        std::filesystem::path path(file->text);
        if (path.is_relative()) path = std::filesystem::path(file->file).parent_path() / path;
        auto data = readActualData(path.string(), tensor);
        if (!data) {
            Diagnostic wrong = data.error();
            if (wrong.place.file.empty()) wrong.place = file->place();
            return Unexpected(std::move(wrong));
        }
        model.data = std::make_shared<const ActualData>(std::move(*data));
    }
    return model;
}

Expected<void> setFrom(const DocNode& node, const NestProblem& problem, std::size_t tensor, SparseDesign& design) {
    const auto model = densityOf(node, design.densities[tensor].tensor);
    if (!model) return Unexpected(model.error());
    setDensity(design, problem, tensor, *model);
    return {};
}

}  // namespace

Expected<void> readDensities(const DocNode& root, const NestProblem& problem, SparseDesign& design, bool& found) {
    const DocNode* section = root.find("problem");
    if (!section) return {};
    const DocNode* instance = section->find("instance");
    if (!instance || !instance->isMap()) instance = section;
    if (const DocNode* common = instance->findAny({"commonDensity", "common_density"})) {
        found = true;
        for (std::size_t t = 0; t < problem.tensors.size(); ++t)
            if (const auto set = setFrom(*common, problem, t, design); !set) return set;
        return {};
    }
    const DocNode* densities = instance->find("densities");
    if (!densities || densities->isNull()) return {};
    found = true;
    if (!densities->isMap())
        return fail("sparse.type", fmt::format("`densities` is {}", densities->kindText()),
                    "a map from tensors to densities", "write `densities: {A: 0.5}`", densities->place());
    for (std::size_t i = 0; i < densities->keys.size(); ++i) {
        DocNode name = densities->items[i];
        name.kind = DocNode::Kind::Scalar;
        name.text = densities->keys[i];
        const auto tensor = tensorNamed(name, problem);
        if (!tensor) return Unexpected(tensor.error());
        if (const auto set = setFrom(densities->items[i], problem, *tensor, design); !set) return set;
    }
    return {};
}

}  // namespace sparse

Expected<std::shared_ptr<const SparseDesign>> readSparseDesign(const DocNode& root, const NestProblem& problem,
                                                               const NestHardware& hardware, Diagnostics& warnings) {
    auto design = std::make_shared<SparseDesign>(denseDesign(problem, hardware.levels.size()));
    bool found = false;
    if (const auto read = sparse::readDensities(root, problem, *design, found); !read) return Unexpected(read.error());
    if (const DocNode* section = root.find("sparse_optimizations"); section && !section->isNull()) {
        found = true;
        if (const auto read = sparse::readOptimizations(*section, problem, hardware, *design, warnings); !read)
            return Unexpected(read.error());
    }
    if (!found) return std::shared_ptr<const SparseDesign>();
    return std::shared_ptr<const SparseDesign>(std::move(design));
}

}  // namespace orrery
