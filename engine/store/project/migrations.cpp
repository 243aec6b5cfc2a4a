#include "store/project/migrations.h"

#include "store/project/project.h"

#include <fmt/format.h>

#include <array>

namespace orrery::store {

namespace {

void tell(YamlContext& context, std::string message, const YAML::Node& node, std::string path) {
    context.warnings.push_back(Diagnostic{Severity::Note,
                                          "project.migrated",
                                          std::move(message),
                                          {},
                                          "saving the project writes the new spelling",
                                          context.place(node, std::move(path))});
}

// Renames a key and keeps its place in the mapping.
bool rename(YAML::Node map, const std::string& from, const std::string& to) {
    if (!map[from].IsDefined() || map[to].IsDefined()) return false;
    for (auto pair : map) {
        if (pair.first.IsScalar() && pair.first.Scalar() == from) pair.first = to;
    }
    return true;
}

// project/0 called designs `devices` and workloads `models`, named a workload's source `model`, its extent `seq`, had
// one `precision` for weights, activations and KV cache, and wrote scenarios as pairs `[device, model]` in `questions`.
Expected<void> from0(YAML::Node& root, YamlContext& context) {
    if (rename(root, "devices", "hardware")) {
        tell(context, "`devices` is now called `hardware`", root["hardware"], "devices");
    }
    if (rename(root, "models", "workloads")) {
        tell(context, "`models` is now called `workloads`", root["workloads"], "models");
    }
    int renamed = 0, split = 0;
    if (root["workloads"].IsDefined() && root["workloads"].IsSequence()) {
        for (YAML::Node workload : root["workloads"]) {
            if (!workload.IsMap()) continue;
            renamed += rename(workload, "model", "source") ? 1 : 0;
            renamed += rename(workload, "seq", "sequence") ? 1 : 0;
            const YAML::Node precision = workload["precision"];
            if (!precision.IsDefined() || !precision.IsScalar()) continue;
            for (const char* part : {"weights", "activations", "kv"}) {
                if (!workload[part].IsDefined()) workload[part] = precision.Scalar();
            }
            workload.remove("precision");
            ++split;
        }
    }
    if (renamed > 0) {
        tell(context, "in workloads, `model` is now called `source`, and `seq` is called `sequence`", root["workloads"],
             "models");
    }
    if (split > 0) {
        tell(context, "`precision` is now given apart for `weights`, `activations` and `kv`", root["workloads"],
             "models");
    }
    const YAML::Node questions = root["questions"];
    if (!questions.IsDefined()) return {};
    if (!questions.IsSequence()) {
        return fail("project.migration", "`questions` should be a list of pairs", "`questions: [[device, model]]`", "",
                    context.place(questions, "questions"));
    }
    YAML::Node scenarios(YAML::NodeType::Sequence);
    for (const auto& question : questions) {
        if (!question.IsSequence() || question.size() != 2) {
            return fail("project.migration", "a question should be a pair", "`[device, model]`", "",
                        context.place(question, "questions"));
        }
        YAML::Node scenario;
        scenario["hardware"] = question[0];
        scenario["workload"] = question[1];
        scenarios.push_back(scenario);
    }
    tell(context, "`questions` is now called `scenarios`, each with `hardware` and `workload`", questions, "questions");
    root.remove("questions");
    root["scenarios"] = scenarios;
    return {};
}

// migrations[n] brings version n to n + 1.
constexpr std::array<Expected<void> (*)(YAML::Node&, YamlContext&), projectVersion> migrations{from0};

}  // namespace

Expected<void> migrateProject(YAML::Node& root, int from, YamlContext& context) {
    try {
        for (int version = from; version < projectVersion; ++version) {
            if (auto done = migrations[static_cast<std::size_t>(version)](root, context); !done) return done;
        }
    } catch (const YAML::Exception& error) {
        return fail("project.migration", fmt::format("the old project cannot be brought up to date: {}", error.msg),
                    fmt::format("a project/{} document", from), "", {context.file});
    }
    return {};
}

}  // namespace orrery::store
