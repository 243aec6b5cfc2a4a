#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "workload/options.h"
#include "workload/yaml/document.h"
#include "workload/yaml/fields.h"

#include <fmt/format.h>

namespace orrery {
namespace {

template <class Value>
void override(Value& given, const Value& usual, const Value& documents) {
    if (given == usual) given = documents;
}

void readType(YamlFields& fields, const char* key, DType& given, DType usual) {
    const YamlNode* node = fields.find(key);
    if (!node) return;
    const auto type = node->isScalar() ? dtype(node->scalar) : std::nullopt;
    if (!type) {
        fields.refuse(*node, "this is not a number type", "fp16, bf16, fp8, int8, int4, …", "see the list of types");
        return;
    }
    override(given, usual, *type);
}

Expected<ImportedGraph> readRecipe(const YamlNode& root, const std::string& file, const WorkloadOptions& given) {
    YamlFields fields(root, file, "");
    fields.find("orrery");
    fields.find("options");
    const std::string name = fields.text("name", "");
    const std::string id = fields.text("builtin", "");
    fields.refuseOthers();
    if (fields.problem()) return Unexpected(*fields.problem());
    const WorkloadInfo* info = builtinWorkload(id);
    if (!info) {
        std::vector<std::string> ids;
        for (const WorkloadInfo& one : builtinWorkloads()) ids.push_back(one.id);
        const std::string near = didYouMean(id, ids);
        const YamlNode& node = *root.find("builtin");
        return fail("workload.unknown", fmt::format("there is no built-in model “{}”", id.substr(0, 80)),
                    "the id of a built-in model", near.empty() ? "list them with: orrery-cli workloads" : near,
                    Place{file, node.line, node.column, "builtin"});
    }
    WorkloadOptions options = given;
    if (const YamlNode* node = root.find("options")) {
        auto read = readOptions(*node, file, given);
        if (!read) return Unexpected(read.error());
        options = *read;
    }
    auto built = buildModel(info->id, options);
    if (!built) {
        built.error().place.file = file;
        built.error().place.line = root.find("builtin")->line;
        return built;
    }
    if (!name.empty()) built->name = name;
    return built;
}

Expected<ImportedGraph> read(const std::string& path, const WorkloadOptions& options) {
    auto text = readFile(path, {.most = yamlLargestFile,
                                .code = "workload.unreadable",
                                .tooLarge = "workload.too-large",
                                .expected = "a YAML file",
                                .hint = "write repeated layers once, with `repeat`"});
    if (!text) return Unexpected(text.error());
    auto root = parseYaml(*text, path);
    if (!root) {
        if (root.error().place.line == 0) root.error().place.line = 1;
        return Unexpected(root.error());
    }
    const auto wrong = [&](std::string message, std::string hint, int line) {
        return fail("workload.not-a-workload", std::move(message), "a map that begins with `orrery: workload/1`",
                    std::move(hint), Place{.file = path, .line = std::max(line, 1), .path = "orrery"});
    };
    if (!root->isMap()) return wrong(fmt::format("the document is {}", root->typeText()), "is this the right file?", 1);
    const YamlNode* version = root->find("orrery");
    if (!version || !version->isScalar()) return wrong("the key `orrery` is missing", "is this the right file?", 1);
    if (version->scalar.starts_with("workload/") && version->scalar != "workload/1") {
        return wrong(fmt::format("this document is of version {}", version->scalar.substr(0, 40)),
                     "a newer Orrery wrote it; this one reads workload/1", version->line);
    }
    if (version->scalar != "workload/1") {
        return wrong(fmt::format("this is a {} document", version->scalar.substr(0, 40)),
                     "open it where documents of its kind go", version->line);
    }
    return root->find("builtin") ? readRecipe(*root, path, options) : readGraph(*root, path, options);
}

}  // namespace

Expected<WorkloadOptions> readOptions(const YamlNode& node, const std::string& file, WorkloadOptions given) {
    const WorkloadOptions usual;
    YamlFields fields(node, file, "options");
    override(given.batch, usual.batch, fields.whole("batch", 1, 100'000, usual.batch));
    override(given.sequence, usual.sequence, fields.whole("sequence", 0, 10'000'000, usual.sequence));
    override(given.image, usual.image, fields.whole("image", 0, 16'384, usual.image));
    override(given.flashAttention, usual.flashAttention, fields.flag("flash_attention", usual.flashAttention));
    readType(fields, "weights", given.weights, usual.weights);
    readType(fields, "activations", given.activations, usual.activations);
    readType(fields, "kv", given.kv, usual.kv);
    if (const YamlNode* at = fields.find("phase")) {
        const auto read = at->isScalar() ? phase(at->scalar) : std::nullopt;
        if (!read) {
            fields.refuse(*at, "this is not a phase", "forward, prefill, decode or training-forward",
                          "choose one of them");
        } else {
            override(given.phase, usual.phase, *read);
        }
    }
    if (const YamlNode* bindings = fields.find("bindings")) {
        YamlFields values(*bindings, file, "options/bindings");
        for (const YamlNode& item : bindings->items) {
            if (const auto value = values.wholeOf(item, 1, 1'000'000'000'000))
                given.bindings.try_emplace(item.key, *value);
        }
        if (values.problem()) return Unexpected(*values.problem());
    }
    fields.refuseOthers();
    if (fields.problem()) return Unexpected(*fields.problem());
    if (auto good = checkOptions(given); !good) {
        good.error().place.file = file;
        good.error().place.line = node.line;
        return Unexpected(good.error());
    }
    return given;
}

Expected<ImportedGraph> importWorkloadYaml(const std::string& path, const WorkloadOptions& options) try {
    return read(path, options);
} catch (const std::exception& error) {
    return fail("workload.failed", fmt::format("the document could not be read: {}", error.what()),
                "an `orrery: workload/1` document", "see the manual for its form", Place{.file = path});
}

}  // namespace orrery
