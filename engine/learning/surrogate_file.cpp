#include "base/text/json_cursor.h"
#include "base/text/read_file.h"
#include "learning/matern_process.h"
#include "learning/regressor_json.h"
#include "learning/surrogate.h"
#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::size_t largestSurrogate = 256u << 20, mostTargets = 64, mostModels = 8, mostWords = 256,
                      mostFacts = 1u << 20;

SurrogateInput readInput(JsonCursor& json) {
    SurrogateInput input;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "name")
            input.name = json.text();
        else if (key == "part")
            input.part = json.text();
        else if (key == "words")
            input.words = json.truth();
        else if (key == "per_cycle")
            input.perCycle = json.truth();
        else if (key == "log")
            input.logarithmic = json.truth();
        else if (key == "low")
            input.low = json.number();
        else if (key == "high")
            input.high = json.number();
        else if (key == "own")
            input.own = json.text();
        else if (key == "values")
            for (json.array(); json.element() && input.values.size() <= mostWords;)
                input.values.emplace_back(json.text());
        else
            json.skip();
    }
    if (!json.ok()) return input;
    const std::array<std::string_view, 5> parts{"", "hardware", "workload", "plan", "software"};
    const bool known = std::find(parts.begin(), parts.end(), input.part) != parts.end();
    if (input.name.empty() || !known) {
        json.fail("input", fmt::format("`{}` of `{}` is no input", input.name, input.part),
                  "a name, and `hardware`, `workload`, `plan`, `software` or nothing as its part");
    } else if (input.words && input.values.empty()) {
        json.fail("input", fmt::format("`{}` has no words", input.name), "\"values\": [\"…\", …]");
    } else if (!input.words && (input.low > input.high || (input.logarithmic && input.low <= 0))) {
        json.fail("input", fmt::format("`{}` has no range", input.name), "low ≤ high, above 0 where it is even in ln");
    }
    return input;
}

SurrogateTarget::Stated readStated(JsonCursor& json) {
    SurrogateTarget::Stated stated;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "rows")
            stated.rows = static_cast<std::size_t>(std::max<std::int64_t>(0, json.integer()));
        else if (key == "mape")
            stated.mape = json.number();
        else if (key == "median")
            stated.median = json.number();
        else if (key == "spearman")
            stated.spearman = json.number();
        else if (key == "coverage")
            stated.coverage = json.number();
        else
            json.skip();
    }
    return stated;
}

SurrogateTarget readTarget(JsonCursor& json) {
    SurrogateTarget target;
    target.reach = -1;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "name")
            target.name = json.text();
        else if (key == "unit")
            target.unit = json.text();
        else if (key == "log")
            target.logarithmic = json.truth();
        else if (key == "offset")
            target.offset = json.number();
        else if (key == "fit")
            target.kind = json.text();
        else if (key == "by_deviation")
            target.byDeviation = json.truth();
        else if (key == "reach")
            target.reach = json.number();
        else if (key == "least")
            target.least = json.number();
        else if (key == "most")
            target.most = json.number();
        else if (key == "dimension")
            target.dimension = json.text();
        else if (key == "stated")
            target.stated = readStated(json);
        else if (key == "models")
            for (json.array(); json.element();) {
                if (target.models.size() == mostModels) {
                    json.fail("model", "too many models", fmt::format("at most {}", mostModels));
                    break;
                }
                target.models.push_back(readRegressorAt("model", json));
            }
        else
            json.skip();
    }
    if (json.ok() && (target.name.empty() || target.models.empty() || !(target.reach >= 0 && target.reach < 1e6)))
        json.fail("target", fmt::format("target `{}` is not whole", target.name),
                  "a name, models, and a `reach` of 0 or more");
    return target;
}

QuestionFacts readFacts(JsonCursor& json) {
    QuestionFacts facts;
    for (json.array(); json.element();) {
        std::vector<std::string> pair;
        for (json.array(); json.element() && pair.size() < 3;) pair.emplace_back(json.text());
        if (json.ok() && (pair.size() != 2 || facts.size() == mostFacts)) {
            json.fail("facts", "a fact of the question is no name and value", "[\"name\", \"value\"]");
        }
        if (!json.ok()) break;
        facts.emplace_back(std::move(pair[0]), std::move(pair[1]));
    }
    return facts;
}

}  // namespace

std::string writeSurrogate(const Surrogate& surrogate) {
    std::string out = fmt::format(
        "{{\n\"format\": \"orrery-surrogate\",\n\"version\": 1,\n\"name\": {},\n\"source\": {},\n\"date\": {},\n"
        "\"rows\": {},\n\"rows_hash\": {},\n\"seed\": {},\n\"question\": {},\n\"method\": {},\n",
        jsonText(surrogate.name), jsonText(surrogate.source), jsonText(surrogate.date), surrogate.rows,
        jsonText(surrogate.rowsHash), surrogate.seed, jsonText(surrogate.question), jsonText(surrogate.method));
    if (!surrogate.facts.empty()) {
        out += "\"facts\": [";
        for (std::size_t i = 0; i < surrogate.facts.size(); ++i) {
            const auto& [name, value] = surrogate.facts[i];
            out += fmt::format("{}\n  [{}, {}]", i == 0 ? "" : ",", jsonText(name), jsonText(value));
        }
        out += "],\n";
    }
    out += "\"inputs\": [";
    for (std::size_t i = 0; i < surrogate.inputs.size(); ++i) {
        const SurrogateInput& input = surrogate.inputs[i];
        out += fmt::format("{}\n  {{\"name\": {}, \"part\": {}, ", i == 0 ? "" : ",", jsonText(input.name),
                           jsonText(input.part));
        if (input.words) {
            out += "\"words\": true, \"values\": [";
            for (std::size_t w = 0; w < input.values.size(); ++w)
                out += (w == 0 ? "" : ", ") + jsonText(input.values[w]);
            out += "]";
        } else {
            out += fmt::format("\"log\": {}, \"low\": {}, \"high\": {}", input.logarithmic, input.low, input.high);
        }
        out += fmt::format("{}, \"own\": {}}}", input.perCycle ? ", \"per_cycle\": true" : "", jsonText(input.own));
    }
    out += "],\n\"targets\": [";
    for (std::size_t i = 0; i < surrogate.targets.size(); ++i) {
        const SurrogateTarget& target = surrogate.targets[i];
        out += fmt::format(
            "{}\n  {{\"name\": {}, \"unit\": {}, \"log\": {}, \"offset\": {}, \"fit\": {}, \"by_deviation\": {}, "
            "\"reach\": {}, \"least\": {}, \"most\": {},{}\n   \"stated\": {{\"rows\": {}, \"mape\": {:.6g}, "
            "\"median\": {:.6g}, \"spearman\": {:.6g}, \"coverage\": {:.6g}}},\n   \"models\": [",
            i == 0 ? "" : ",", jsonText(target.name), jsonText(target.unit), target.logarithmic, target.offset,
            jsonText(target.kind), target.byDeviation, target.reach, target.least, target.most,
            target.dimension.empty() ? std::string() : fmt::format(" \"dimension\": {},", jsonText(target.dimension)),
            target.stated.rows, target.stated.mape, target.stated.median, target.stated.spearman,
            target.stated.coverage);
        for (std::size_t m = 0; m < target.models.size(); ++m)
            out += fmt::format("{}\n    {{\"kind\": {}, \"model\": {}}}", m == 0 ? "" : ",",
                               jsonText(target.models[m]->kind()), target.models[m]->toJson());
        out += "]}";
    }
    return out + "]\n}\n";
}

Expected<Surrogate> parseSurrogate(std::string_view text, std::string_view file) {
    JsonCursor json(text, file, "surrogate");
    Surrogate surrogate;
    std::string format;
    std::int64_t version = 0;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "format")
            format = json.text();
        else if (key == "version")
            version = json.integer();
        else if (key == "name")
            surrogate.name = json.text();
        else if (key == "source")
            surrogate.source = json.text();
        else if (key == "date")
            surrogate.date = json.text();
        else if (key == "rows")
            surrogate.rows = static_cast<std::size_t>(std::max<std::int64_t>(0, json.integer()));
        else if (key == "rows_hash")
            surrogate.rowsHash = json.text();
        else if (key == "seed")
            surrogate.seed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, json.integer()));
        else if (key == "question")
            surrogate.question = json.text();
        else if (key == "method")
            surrogate.method = json.text();
        else if (key == "facts")
            surrogate.facts = readFacts(json);
        else if (key == "inputs")
            for (json.array(); json.element();) {
                if (surrogate.inputs.size() == largestInputs) {
                    json.fail("input", "too many inputs", fmt::format("at most {}", largestInputs));
                    break;
                }
                surrogate.inputs.push_back(readInput(json));
            }
        else if (key == "targets")
            for (json.array(); json.element();) {
                if (surrogate.targets.size() == mostTargets) {
                    json.fail("target", "too many targets", fmt::format("at most {}", mostTargets));
                    break;
                }
                surrogate.targets.push_back(readTarget(json));
            }
        else
            json.skip();
        if (json.ok() && key == "version" && version != 1)
            json.fail("version", fmt::format("version {} is none that is known", version), "version 1",
                      "The file may come from a newer version.");
    }
    json.end();
    if (json.ok() && format != "orrery-surrogate")
        json.fail("format", "this is no surrogate", "\"format\": \"orrery-surrogate\"",
                  "`orrery-cli surrogate TABLE.csv --target NAME --out FILE` makes one");
    if (json.ok() && (version != 1 || surrogate.inputs.empty() || surrogate.targets.empty()))
        json.fail("missing", "version, inputs or targets are missing", "a file as `orrery-cli surrogate` writes it");
    if (json.ok() && surrogate.question.empty() != surrogate.facts.empty())
        json.fail("facts", "a surrogate of a question says what the question was",
                  "\"question\" and \"facts\", or neither");
    const std::size_t features = surrogateFeatureNames(surrogate.inputs).size();
    for (const SurrogateTarget& target : surrogate.targets) {
        for (const RegressorPtr& model : target.models) {
            if (json.ok() && model && model->inputs() != features)
                json.fail("model",
                          fmt::format("a model of `{}` takes {} numbers, its inputs make {}", target.name,
                                      model->inputs(), features),
                          "models of these inputs");
        }
        const bool process = std::any_of(target.models.begin(), target.models.end(), [](const RegressorPtr& model) {
            return dynamic_cast<const MaternProcess*>(model.get()) != nullptr;
        });
        if (json.ok() && target.byDeviation && !process)
            json.fail("target", fmt::format("`{}` has no process whose deviation its interval goes by", target.name),
                      "a model of kind matern-process");
    }
    if (!json.ok()) return Unexpected(json.problem());
    return surrogate;
}

Expected<Surrogate> readSurrogate(const std::string& path) {
    auto text = readFile(
        path, FileRules{.most = largestSurrogate, .code = "surrogate.unreadable", .expected = "a surrogate file"});
    if (!text) return Unexpected(text.error());
    return parseSurrogate(*text, path);
}

}  // namespace orrery
