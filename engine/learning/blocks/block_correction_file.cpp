#include "base/text/json_cursor.h"
#include "base/text/read_file.h"
#include "learning/blocks/block_correction.h"
#include "learning/domain_json.h"
#include "learning/regressor_json.h"
#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::block {

namespace {

constexpr std::size_t largestCorrection = 64u << 20;
constexpr double largestResidual = 1e4;  ///< times its scale

std::string modelJson(std::string_view name, const Regressor& model) {
    return fmt::format(",\n\"{}\": {{\"kind\": {}, \"value\": {}}}", name, jsonText(model.kind()), model.toJson());
}

BlockCorrection::Class readClass(JsonCursor& json) {
    BlockCorrection::Class its;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "helps")
            its.helps = json.truth();
        else if (key == "below")
            its.below = json.number();
        else if (key == "above")
            its.above = json.number();
        else
            json.skip();
    }
    if (json.ok() && its.below > its.above)
        json.fail("class", "`below` lies above `above`", "residuals, the lower one first");
    if (json.ok() && (its.below < -largestResidual || its.above > largestResidual))
        json.fail("range", fmt::format("residuals from {:g} to {:g} are none of measured blocks", its.below, its.above),
                  fmt::format("from {:g} to {:g}", -largestResidual, largestResidual));
    return its;
}

void readClasses(JsonCursor& json, BlockCorrection& correction) {
    std::string_view key;
    std::array<bool, boundCount> found{};
    for (json.object(); json.key(key);) {
        std::size_t at = 0;
        while (at < boundCount && toText(static_cast<Bound>(at)) != key) ++at;
        if (at == boundCount) {
            json.fail("class", fmt::format("there is no bound `{}`", key),
                      "predecode, decode, issue, ports, dependence");
            return;
        }
        if (found[at]) json.fail("class", fmt::format("the bound `{}` stands twice", key), "each bound once");
        correction.classes[at] = readClass(json);
        found[at] = true;
    }
    if (json.ok() && std::ranges::count(found, true) < static_cast<int>(boundCount))
        json.fail("class", "not every bound has its class", "predecode, decode, issue, ports, dependence");
}

CorrectionEvidence readEvidence(JsonCursor& json) {
    CorrectionEvidence evidence;
    std::string_view key;
    const auto count = [&] { return static_cast<std::size_t>(std::max<std::int64_t>(0, json.integer())); };
    for (json.object(); json.key(key);) {
        if (key == "fitted")
            evidence.fitted = count();
        else if (key == "judged")
            evidence.judged = count();
        else if (key == "error_before")
            evidence.errorBefore = json.number();
        else if (key == "error_after")
            evidence.errorAfter = json.number();
        else if (key == "width_before")
            evidence.widthBefore = json.number();
        else if (key == "width_after")
            evidence.widthAfter = json.number();
        else if (key == "coverage")
            evidence.coverage = json.number();
        else
            json.skip();
    }
    return evidence;
}

// Names must be distinct mnemonics, or columns would be counted under another one.
void checkNames(JsonCursor& json, const MnemonicColumns& columns) {
    for (std::size_t i = 0; json.ok() && i < columns.names().size(); ++i) {
        FormKey key;
        if (!readForm(columns.names()[i], key) || columns.columnOf(key) != static_cast<int>(i))
            json.fail("mnemonic", fmt::format("`{}` is no mnemonic, or stands twice", columns.names()[i]),
                      "ADD, MULSD, …");
    }
}

}  // namespace

std::string writeBlockCorrection(const BlockCorrection& c) {
    std::string names, classes;
    for (const auto& each : c.mnemonics.names()) names += (names.empty() ? "" : ", ") + jsonText(each);
    for (std::size_t b = 0; b < boundCount; ++b)
        classes +=
            fmt::format("{}\n  \"{}\": {{\"helps\": {}, \"below\": {:.6g}, \"above\": {:.6g}}}", b ? "," : "",
                        toText(static_cast<Bound>(b)), c.classes[b].helps, c.classes[b].below, c.classes[b].above);
    const CorrectionEvidence& e = c.evidence;
    return fmt::format(
               "{{\n\"format\": \"orrery-block-correction\",\n\"version\": 1,\n\"features\": {},\n\"core\": {},\n"
               "\"core_hash\": {},\n\"source\": {},\n\"date\": {},\n\"evidence\": {{\"fitted\": {}, \"judged\": {}, "
               "\"error_before\": {:.6g}, \"error_after\": {:.6g}, \"width_before\": {:.6g}, \"width_after\": {:.6g}, "
               "\"coverage\": {:.6g}}},\n\"quiet\": {:.6g},\n\"mnemonics\": [{}],\n\"classes\": {{{}}},\n\"domain\": "
               "{}",
               blockFeatureVersion, jsonText(c.core), jsonText(c.coreHash), jsonText(c.source), jsonText(c.date),
               e.fitted, e.judged, e.errorBefore, e.errorAfter, e.widthBefore, e.widthAfter, e.coverage, c.quiet, names,
               classes, domainJson(c.domain)) +
           modelJson("ratio", *c.ratio) + modelJson("scale", *c.scale) + "\n}\n";
}

Expected<BlockCorrection> parseBlockCorrection(std::string_view text, std::string_view file) {
    JsonCursor json(text, file, "block-correction");
    BlockCorrection correction;
    std::string format;
    std::int64_t version = 0, features = 0;
    bool classes = false, domain = false;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "format") {
            format = json.text();
        } else if (key == "version") {
            version = json.integer();
        } else if (key == "features") {
            features = json.integer();
        } else if (key == "core") {
            correction.core = json.text();
        } else if (key == "core_hash") {
            correction.coreHash = json.text();
        } else if (key == "source") {
            correction.source = json.text();
        } else if (key == "date") {
            correction.date = json.text();
        } else if (key == "evidence") {
            correction.evidence = readEvidence(json);
        } else if (key == "quiet") {
            correction.quiet = json.number();
            if (json.ok() && correction.quiet < 0) json.fail("quiet", "`quiet` is below 0", "0 or more");
        } else if (key == "mnemonics") {
            std::vector<std::string> names;
            for (json.array(); json.element();) {
                if (names.size() == largestInputs) {
                    json.fail("mnemonic", fmt::format("there are more than {} mnemonics", largestInputs),
                              "fewer columns");
                    break;
                }
                names.emplace_back(json.text());
            }
            correction.mnemonics = MnemonicColumns(std::move(names));
            checkNames(json, correction.mnemonics);
        } else if (key == "classes") {
            readClasses(json, correction);
            classes = true;
        } else if (key == "domain") {
            correction.domain = *readDomain(json);
            domain = true;
        } else if (key == "ratio") {
            correction.ratio = readRegressorAt("value", json);
        } else if (key == "scale") {
            correction.scale = readRegressorAt("value", json);
        } else {
            json.skip();
        }
        if (json.ok() && ((key == "version" && version != 1) || (key == "features" && features != blockFeatureVersion)))
            json.fail("version", fmt::format("{} {} is none that is known", key, key == "version" ? version : features),
                      fmt::format("version 1 with features {}", blockFeatureVersion),
                      "`orrery-cli block --core … --fit FILE --out FILE` makes it anew");
    }
    json.end();
    if (json.ok() && format != "orrery-block-correction")
        json.fail("format", "this is no correction of blocks", "\"format\": \"orrery-block-correction\"",
                  "`orrery-cli block --core … --fit FILE --out FILE` makes one");
    if (json.ok() && (version != 1 || features != blockFeatureVersion || correction.coreHash.empty() || !classes ||
                      !domain || !correction.ratio || !correction.scale))
        json.fail("missing", "something of the correction is missing",
                  "version, features, core_hash, classes, domain, ratio and scale");
    for (const Regressor* model : {correction.ratio.get(), correction.scale.get()}) {
        if (json.ok() && model->inputs() != correction.inputs())
            json.fail("model",
                      fmt::format("a model takes {} numbers, a block has {}", model->inputs(), correction.inputs()),
                      "models of these features");
    }
    if (json.ok() && correction.domain.mean.size() != plainFeatureNames().size())
        json.fail("domain", fmt::format("the domain has {} features", correction.domain.mean.size()),
                  fmt::format("{}", plainFeatureNames().size()));
    if (!json.ok()) return Unexpected(json.problem());
    return correction;
}

Expected<BlockCorrection> readBlockCorrection(const std::string& path) {
    auto text = readFile(path, FileRules{.most = largestCorrection,
                                         .code = "block-correction.unreadable",
                                         .expected = "a correction of blocks"});
    if (!text) return Unexpected(text.error());
    return parseBlockCorrection(*text, path);
}

}  // namespace orrery::block
