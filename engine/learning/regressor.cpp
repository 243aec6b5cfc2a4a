#include "learning/regressor.h"

#include "learning/blend.h"
#include "learning/gaussian_process.h"
#include "learning/lattice.h"
#include "learning/linear.h"
#include "learning/matern_process.h"
#include "learning/network.h"
#include "learning/regressor_json.h"
#include "learning/trees.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery {

RegressorPtr readRegressor(std::string_view kind, JsonCursor& json) {
    if (kind == "trees") return readTrees(json);
    if (kind == "compact-trees") return readCompactTrees(json);
    if (kind == "network") return readNetwork(json);
    if (kind == "linear") return readLinear(json);
    if (kind == "blend") return readBlend(json);
    if (kind == "sum") return readSum(json);
    if (kind == "lattice") return readLattice(json);
    if (kind == "gaussian-process") return readGaussianProcess(json);
    if (kind == "matern-process") return readMaternProcess(json);
    json.fail("unknown-kind", fmt::format("there is no kind of model '{}'", kind),
              "trees, compact-trees, network, linear, lattice, gaussian-process, matern-process, blend or sum",
              "The file may come from a newer version.");
    return nullptr;
}

RegressorPtr readRegressorAt(std::string_view model, JsonCursor& json) {
    const std::string expected = fmt::format("\"kind\": …, \"{}\": {{…}}", model);
    std::string kind;
    RegressorPtr read;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "kind") {
            kind = json.text();
        } else if (key == model) {
            if (kind.empty()) json.fail("model", "a model stands before its kind", expected);
            if (json.ok()) read = readRegressor(kind, json);
        } else {
            json.skip();
        }
    }
    if (json.ok() && !read) json.fail("model", "a model is missing", expected);
    return read;
}

std::string jsonText(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Expected<RegressorPtr> parseRegressor(std::string_view kind, std::string_view text) {
    JsonCursor json(text, {}, "learning");
    RegressorPtr model = readRegressor(kind, json);
    json.end();
    if (!json.ok()) return tl::unexpected(json.problem());
    return model;
}

}  // namespace orrery
