#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "base/unit.h"
#include "methods/adapter/adapter.h"
#include "methods/adapter/adapter_writers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <regex>

namespace orrery {

namespace {

constexpr std::size_t largestAdapter = std::size_t{1} << 20;

/// Keeps the first complaint; after it every read answers something harmless.
class AdapterReader {
public:
    explicit AdapterReader(std::string path) {
        made_.file = std::move(path);
        made_.id = std::filesystem::path(made_.file).stem().string();
        std::error_code ignored;
        made_.folder = std::filesystem::absolute(made_.file, ignored).parent_path().string();
    }

    Expected<Adapter> read(const YamlNode& root) {
        if (!root.isMap()) wrong(root, "an adapter is a map", "orrery: adapter/1, title, command, time, …");
        const YamlNode* format = root.find("orrery");
        if (!format || format->scalar != "adapter/1") {
            wrong(format ? *format : root,
                  format ? fmt::format("`{}` is no adapter that this version reads", format->scalar)
                         : std::string("this is no adapter"),
                  "orrery: adapter/1", {}, "adapter.version");
        }
        for (const YamlNode& item : root.items)
            if (!problem_) key(item);
        if (!problem_) finish(root);
        if (problem_) return Unexpected(std::move(*problem_));
        return std::move(made_);
    }

private:
    void wrong(const YamlNode& at, std::string message, std::string expected, std::string hint = {},
               std::string code = "adapter.value") {
        if (problem_) return;
        problem_ = fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                        Place{made_.file, at.line, at.column, {}})
                       .value();
    }
    void unknown(const YamlNode& item, std::string_view of, const std::vector<std::string>& known) {
        wrong(item, fmt::format("{} has no key `{}`", of, item.key), fmt::format("one of {}", fmt::join(known, ", ")),
              didYouMean(item.key, known), "adapter.key");
    }
    std::string text(const YamlNode& node) {
        if (!node.isScalar()) wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "text");
        return node.scalar;
    }
    std::vector<std::string> list(const YamlNode& node) {
        std::vector<std::string> words;
        if (!node.isSequence()) wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "a list");
        for (const YamlNode& item : node.items) words.push_back(text(item));
        return words;
    }
    bool isMap(const YamlNode& node) {
        if (!node.isMap()) wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "a map");
        return node.isMap();
    }
    template <class Value, class Find>
    Value word(const YamlNode& node, std::string_view what, const std::vector<std::string>& known, Find find) {
        const std::string said = text(node);
        const std::optional<Value> found = find(said);
        if (!found)
            wrong(node, fmt::format("`{}` is no {}", said, what), fmt::format("one of {}", fmt::join(known, ", ")),
                  didYouMean(said, known));
        return found.value_or(Value{});
    }
    Expression arithmetic(const YamlNode& node) {
        auto parsed = Expression::parse(text(node));
        if (parsed) return std::move(*parsed);
        wrong(node, fmt::format("`{}` is no arithmetic over values", node.scalar), parsed.error().expected, {},
              "adapter.expression");
        return {};
    }
    AdapterText lineOf(const YamlNode& node) { return {text(node), node.line}; }
    std::vector<AdapterText> lines(const YamlNode& node) {
        std::vector<AdapterText> made;
        if (!node.isSequence() || node.items.empty())
            wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "a list of arguments",
                  "there is no shell: every argument is an item of its own");
        for (const YamlNode& item : node.items) made.push_back(lineOf(item));
        return made;
    }
    /// A file in the run's folder: not above it, and not anywhere else.
    std::string inside(const YamlNode& node) {
        const std::string file = text(node);
        const std::filesystem::path path(file);
        bool out = file.empty() || path.is_absolute();
        for (const auto& part : path) out = out || part == "..";
        if (out) wrong(node, fmt::format("`{}` leads out of the run's folder", file), "a file's name, such as run.cfg");
        return file;
    }
    std::string pattern(const YamlNode& node) {
        const std::string said = text(node);
        try {
            const std::regex tried(said);
            if (tried.mark_count() < 1)
                wrong(node, "the regular expression has no group", "one pair of parentheses around the number");
        } catch (const std::regex_error& error) {
            wrong(node, fmt::format("`{}` is no regular expression: {}", said, error.what()), "ECMAScript's grammar");
        }
        return said;
    }

    void readProgram(const YamlNode& node) {
        if (!isMap(node)) return;
        AdapterProgram& program = made_.program;
        for (const YamlNode& item : node.items) {
            if (item.key == "find") {
                program.find = list(item);
            } else if (item.key == "variable") {
                program.variable = text(item);
            } else if (item.key == "install") {
                program.install = text(item);
            } else if (item.key == "version") {
                if (!isMap(item)) return;
                if (const YamlNode* arguments = item.find("arguments")) program.versionArguments = lines(*arguments);
                if (const YamlNode* shown = item.find("pattern")) program.versionPattern = pattern(*shown);
            } else if (item.key == "recorded_only") {
                program.recordedOnly = text(item) == "true";
            } else {
                unknown(item, "a program", {"find", "variable", "install", "version", "recorded_only"});
            }
        }
    }
    void readInputs(const YamlNode& node) {
        if (!node.isSequence()) wrong(node, "`inputs` is no list", "- {file: name, text: …}");
        for (const YamlNode& item : node.items) {
            if (!isMap(item)) return;
            AdapterInput input;
            for (const YamlNode& each : item.items) {
                if (each.key == "file") {
                    input.file = inside(each);
                } else if (each.key == "text") {
                    input.text = lineOf(each);
                } else if (each.key == "writer") {
                    input.writer = word<std::string>(each, "writer", adapterWriters(), [](const std::string& said) {
                        const auto& all = adapterWriters();
                        const bool known = std::find(all.begin(), all.end(), said) != all.end();
                        return known ? std::optional(said) : std::nullopt;
                    });
                } else {
                    unknown(each, "an input", {"file", "text", "writer"});
                }
            }
            if (input.file.empty()) wrong(item, "an input has no file", "file: name");
            if (input.writer.empty() == input.text.text.empty())
                wrong(item, "an input is either a text or made by a writer", "text: … or writer: …");
            made_.inputs.push_back(std::move(input));
        }
    }
    std::vector<NamedExpression> named(const YamlNode& node) {
        std::vector<NamedExpression> made;
        if (!isMap(node)) return made;
        for (const YamlNode& item : node.items) made.push_back({item.key, arithmetic(item), item.line});
        return made;
    }
    void readRead(const YamlNode& node) {
        if (!isMap(node)) return;
        AdapterRead read{.name = node.key, .line = node.line};
        for (const YamlNode& item : node.items) {
            if (item.key == "file") {
                read.file = text(item) == "stderr" ? "stderr" : inside(item);
            } else if (item.key == "regex") {
                read.regex = pattern(item);
            } else if (item.key == "column") {
                read.column = text(item);
            } else if (item.key == "pointer") {
                read.pointer = text(item);
                if (!read.pointer.starts_with("/")) wrong(item, "a JSON pointer begins with a slash", "/network/time");
            } else if (item.key == "where") {
                if (!isMap(item)) return;
                for (const YamlNode& each : item.items) {
                    if (each.scalar.starts_with("${")) {
                        read.whereText.emplace_back(each.key, lineOf(each));
                    } else {
                        read.where.push_back({each.key, arithmetic(each), each.line});
                    }
                }
            } else if (item.key == "absent") {
                read.absent = numberIn(text(item));
                if (!read.absent) wrong(item, "`absent` is no number", "what stands where there is none, such as 0");
            } else if (item.key == "row") {
                static const std::vector<std::string> rows{"only", "first", "last", "sum", "mean", "most"};
                read.row = word<AdapterRow>(item, "row", rows, [](const std::string& said) {
                    const auto at = std::find(rows.begin(), rows.end(), said);
                    return at == rows.end() ? std::nullopt : std::optional(static_cast<AdapterRow>(at - rows.begin()));
                });
            } else {
                unknown(item, "what is read", {"file", "regex", "column", "pointer", "where", "row", "absent"});
            }
        }
        const int ways = !read.regex.empty() + !read.column.empty() + !read.pointer.empty();
        if (ways != 1)
            wrong(node, fmt::format("`{}` is read in {} ways", node.key, ways), "one of regex, column, pointer");
        if (!(read.where.empty() && read.whereText.empty()) && read.column.empty())
            wrong(node, "`where` is for columns", "column: name");
        made_.reads.push_back(std::move(read));
    }
    AdapterQuantity quantity(const YamlNode& node, std::string label, Dimension dimension) {
        AdapterQuantity made{.label = std::move(label), .dimension = dimension, .line = node.line};
        if (!isMap(node)) return made;
        const YamlNode* unit = node.find("unit");
        for (const YamlNode& item : node.items) {
            if (item.key == "value") {
                made.value = arithmetic(item);
            } else if (item.key != "unit") {
                unknown(item, "a quantity", {"value", "unit"});
            }
        }
        if (!node.find("value") || (!unit && dimension != Dimension::Number)) {
            wrong(node, fmt::format("`{}` needs a value and a unit", node.key), "{value: cycles, unit: cycles}");
            return made;
        }
        if (!unit) return made;
        made.unit = text(*unit);
        made.cycles = dimension == Dimension::Time && made.unit == "cycles";
        if (made.cycles) return made;
        for (const Dimension each : {Dimension::Time, Dimension::Energy, Dimension::Data, Dimension::Power}) {
            if (dimension != Dimension::Number && dimension != each) continue;
            const auto one = parseMeasure("1 " + made.unit, each);
            if (!one || one->perCycle) continue;
            made.scale = one->si;
            made.dimension = each;
            return made;
        }
        if (dimension != Dimension::Number)
            wrong(*unit, fmt::format("`{}` is no unit of {}", made.unit, toText(dimension)),
                  dimension == Dimension::Time ? "s, ms, us, ns, ps or cycles" : "J, mJ, uJ, nJ or pJ");
        return made;
    }
    void readFigures(const YamlNode& node) {
        if (!isMap(node)) return;
        for (const YamlNode& item : node.items) made_.figures.push_back(quantity(item, item.key, Dimension::Number));
    }
    void readCommands(const YamlNode& node) {
        if (node.key == "command") {
            made_.commands = {lines(node)};
            return;
        }
        if (!node.isSequence()) wrong(node, "`commands` is no list", "a list of lists of arguments");
        for (const YamlNode& item : node.items) made_.commands.push_back(lines(item));
    }
    double number(const YamlNode& node, double least) {
        const auto value = numberIn(text(node));
        if (!value || *value < least)
            wrong(node, fmt::format("`{}` is no such number", node.scalar), "a number above 0");
        return value.value_or(1);
    }
    void readAsks(const YamlNode& node) {
        static const std::vector<std::string> known{"array", "cpu", "gpu", "tpu", "npu"};
        for (const YamlNode& item : node.items) {
            const std::string said = text(item);
            if (std::find(known.begin(), known.end(), said) == known.end())
                wrong(item, fmt::format("nothing in a design is called `{}`", said),
                      fmt::format("one of {}", fmt::join(known, ", ")), didYouMean(said, known));
            if (said == "array") {
                made_.array = true;
            } else {
                made_.platform = said;
            }
        }
        if (!node.isSequence()) wrong(node, "`asks` is no list", "[array]");
    }

    void key(const YamlNode& item) {
        const std::string& name = item.key;
        if (name == "orrery") return;
        if (name == "title")
            made_.title = text(item);
        else if (name == "summary")
            made_.summary = text(item);
        else if (name == "fails")
            made_.fails = text(item);
        else if (name == "tried")
            made_.tried = text(item);
        else if (name == "methodology")
            made_.methodology = methodology(item);
        else if (name == "level")
            made_.level = level(item);
        else if (name == "platforms")
            made_.platforms = list(item);
        else if (name == "needs")
            made_.needs = list(item);
        else if (name == "lineage")
            made_.lineage = list(item);
        else if (name == "tasks")
            readTasks(item);
        else if (name == "takes")
            readKinds(item);
        else if (name == "asks")
            readAsks(item);
        else if (name == "program")
            readProgram(item);
        else if (name == "let")
            made_.let = named(item);
        else if (name == "inputs")
            readInputs(item);
        else if (name == "command" || name == "commands")
            readCommands(item);
        else if (name == "stop_after_seconds")
            made_.mostSeconds = number(item, 1e-3);
        else if (name == "seconds_each")
            made_.secondsEach = number(item, 1e-6);
        else if (name == "read") {
            if (isMap(item))
                for (const YamlNode& each : item.items) readRead(each);
        } else if (name == "time")
            made_.time = quantity(item, "Time", Dimension::Time), timeGiven_ = true;
        else if (name == "energy")
            made_.energy = quantity(item, "Energy", Dimension::Energy);
        else if (name == "figures")
            readFigures(item);
        else
            unknown(item, "an adapter", {"title",       "summary",
                                         "fails",       "tried",
                                         "methodology", "level",
                                         "platforms",   "needs",
                                         "lineage",     "tasks",
                                         "takes",       "asks",
                                         "program",     "let",
                                         "inputs",      "command",
                                         "commands",    "read",
                                         "time",        "energy",
                                         "figures",     "stop_after_seconds",
                                         "seconds_each"});
    }
    Methodology methodology(const YamlNode& item) {
        static const std::vector<std::string> words{"analytical", "cycle-accurate", "trace-driven", "learned",
                                                    "hybrid"};
        return word<Methodology>(item, "methodology", words, [](const std::string& said) {
            const auto at = std::find(words.begin(), words.end(), said);
            return at == words.end() ? std::nullopt : std::optional(static_cast<Methodology>(at - words.begin()));
        });
    }
    MethodLevel level(const YamlNode& item) {
        static const std::vector<std::string> words{"kernel", "model", "system"};
        return word<MethodLevel>(item, "level", words, [](const std::string& said) {
            const auto at = std::find(words.begin(), words.end(), said);
            return at == words.end() ? std::nullopt : std::optional(static_cast<MethodLevel>(at - words.begin()));
        });
    }
    void readTasks(const YamlNode& item) {
        std::vector<std::string> known;
        for (int k = 0; k < taskKindCount; ++k) known.emplace_back(toText(static_cast<TaskKind>(k)));
        for (const YamlNode& each : item.items)
            made_.tasks.push_back(word<TaskKind>(each, "task", known, [&](const std::string& said) {
                const auto at = std::find(known.begin(), known.end(), said);
                return at == known.end() ? std::nullopt : std::optional(static_cast<TaskKind>(at - known.begin()));
            }));
    }
    void readKinds(const YamlNode& item) {
        std::vector<std::string> known;
        for (int k = 0; k < kernelKindCount; ++k) known.emplace_back(toText(static_cast<KernelKind>(k)));
        if (!item.isSequence()) wrong(item, "`takes` is no list", "[gemm, convolution]");
        for (const YamlNode& each : item.items)
            made_.takes.push_back(word<KernelKind>(each, "kind of kernel", known,
                                                   [](const std::string& said) { return kernelKind(said); }));
    }
    void finish(const YamlNode& root) {
        const bool kernels = made_.level == MethodLevel::Kernel;
        if (made_.title.empty()) made_.title = made_.id;
        if (made_.summary.empty()) made_.summary = "Another program, asked as its adapter says.";
        if (made_.platforms.empty()) made_.platforms = {"Any"};
        if (made_.tasks.empty()) made_.tasks = {TaskKind::Pass};
        if (!timeGiven_) wrong(root, "`time` is missing", "time: {value: cycles, unit: cycles}");
        if (made_.reads.empty()) wrong(root, "`read` is missing", "read: {cycles: {regex: 'Cycles: ([0-9]+)'}}");
        if (made_.commands.empty() && !made_.program.recordedOnly)
            wrong(root, "`command` is missing", "command: [\"${program}\", …]");
        if (kernels && made_.takes.empty()) wrong(root, "`takes` is missing", "takes: [gemm, convolution]");
        if (!kernels && !made_.takes.empty()) wrong(root, "`takes` is for the level kernel", "tasks: [pass]");
        if (made_.program.find.empty() && !made_.program.recordedOnly)
            wrong(root, "`program` names nothing to find", "program: {find: [name]}");
    }

    Adapter made_;
    bool timeGiven_ = false;
    std::optional<Diagnostic> problem_;
};

}  // namespace

Expected<Adapter> readAdapter(const std::string& path) {
    auto text = readFile(path, {.most = largestAdapter, .code = "adapter.unreadable", .expected = "an adapter's file"});
    if (!text) return Unexpected(std::move(text.error()));
    auto root = parseYaml(*text, path);
    if (!root) return Unexpected(std::move(root.error()));
    auto made = AdapterReader(path).read(*root);
    if (made) made->version = "1 " + Hash().add(*text).hex();
    return made;
}

}  // namespace orrery
