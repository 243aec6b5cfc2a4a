#include "store/project/migrations.h"

#include "store/project/project.h"

#include <fmt/format.h>

#include <array>

namespace orrery::store {

namespace {

void tell(YamlContext& context, std::string message, const YamlNode& node, std::string path) {
    context.warnings.push_back(Diagnostic{Severity::Note,
                                          "project.migrated",
                                          std::move(message),
                                          {},
                                          "saving the project writes the new spelling",
                                          context.place(node, std::move(path))});
}

YamlNode* member(YamlNode& map, std::string_view key) {
    return const_cast<YamlNode*>(map.find(key));
}

// Renames a key and keeps its place in the mapping; the member, or null if there was none to rename.
YamlNode* rename(YamlNode& map, std::string_view from, std::string_view to) {
    YamlNode* const found = member(map, from);
    if (!found || map.find(to)) return nullptr;
    found->key = to;
    return found;
}

// project/0 called designs `devices` and workloads `models`, named a workload's source `model`, its extent `seq`, had
// one `precision` for weights, activations and KV cache, and wrote scenarios as pairs `[device, model]` in `questions`.
Expected<void> from0(YamlNode& root, YamlContext& context) {
    if (const auto* hardware = rename(root, "devices", "hardware"))
        tell(context, "`devices` is now called `hardware`", *hardware, "devices");
    if (const auto* models = rename(root, "models", "workloads"))
        tell(context, "`models` is now called `workloads`", *models, "models");
    int renamed = 0, split = 0;
    YamlNode* const workloads = member(root, "workloads");
    if (workloads && workloads->isSequence()) {
        for (YamlNode& workload : workloads->items) {
            renamed += rename(workload, "model", "source") ? 1 : 0;
            renamed += rename(workload, "seq", "sequence") ? 1 : 0;
            const YamlNode* found = workload.find("precision");
            if (!found || !found->isScalar()) continue;
            YamlNode precision = *found;
            std::erase_if(workload.items, [](const YamlNode& item) { return item.key == "precision"; });
            for (const char* part : {"weights", "activations", "kv"}) {
                if (workload.find(part)) continue;
                precision.key = part;
                workload.items.push_back(precision);
            }
            ++split;
        }
    }
    if (renamed > 0) {
        tell(context, "in workloads, `model` is now called `source`, and `seq` is called `sequence`", *workloads,
             "models");
    }
    if (split > 0)
        tell(context, "`precision` is now given apart for `weights`, `activations` and `kv`", *workloads, "models");
    YamlNode* const questions = member(root, "questions");
    if (!questions) return {};
    if (!questions->isSequence()) {
        return fail("project.migration", "`questions` should be a list of pairs", "`questions: [[device, model]]`", "",
                    context.place(*questions, "questions"));
    }
    for (YamlNode& question : questions->items) {
        if (!question.isSequence() || question.items.size() != 2) {
            return fail("project.migration", "a question should be a pair", "`[device, model]`", "",
                        context.place(question, "questions"));
        }
        question.type = YamlNode::Type::Map;
        question.items[0].key = "hardware";
        question.items[1].key = "workload";
    }
    tell(context, "`questions` is now called `scenarios`, each with `hardware` and `workload`", *questions,
         "questions");
    std::erase_if(root.items, [](const YamlNode& item) { return item.key == "scenarios"; });
    member(root, "questions")->key = "scenarios";
    return {};
}

// migrations[n] brings version n to n + 1.
constexpr std::array<Expected<void> (*)(YamlNode&, YamlContext&), projectVersion> migrations{from0};

}  // namespace

Expected<void> migrateProject(YamlNode& root, int from, YamlContext& context) {
    for (int version = from; version < projectVersion; ++version) {
        if (auto done = migrations[static_cast<std::size_t>(version)](root, context); !done) return done;
    }
    return {};
}

}  // namespace orrery::store
