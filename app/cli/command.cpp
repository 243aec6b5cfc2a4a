#include "app/cli/command.h"

#include "base/text/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace orrery::cli {

namespace {

std::vector<std::string> optionNames(const Command& command) {
    std::vector<std::string> names{"--help"};
    for (const Option& option : command.options) names.push_back("--" + std::string(option.name));
    return names;
}

std::string wrapped(std::string_view text, std::size_t margin, std::size_t width = 100) {
    std::string out;
    std::size_t column = margin;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        if (column > margin && column + 1 + word.size() > width) {
            out += "\n" + std::string(margin, ' ');
            column = margin;
        } else if (column > margin) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

constexpr std::string_view standardOutput = "-";

bool isOption(std::string_view word) {
    return word.size() >= 2 && word[0] == '-';
}

// An input that stands behind an option whose value was left out.
bool standsAlready(const std::string& file) {
    constexpr std::array inputs{".csv", ".gz", ".yaml", ".yml", ".onnx", ".parquet", ".param", ".cfg", ".sqlite"};
    std::error_code problem;
    return std::ranges::any_of(inputs, [&](const char* ending) { return file.ends_with(ending); }) &&
           std::filesystem::is_regular_file(file, problem);
}

}  // namespace

bool Arguments::has(std::string_view option) const {
    return value(option).has_value();
}

std::optional<std::string> Arguments::value(std::string_view option) const {
    const auto all = values(option);
    return all.empty() ? std::nullopt : std::optional(all.back());
}

std::vector<std::string> Arguments::values(std::string_view option) const {
    std::vector<std::string> found;
    for (const auto& [name, text] : options_) {
        if (name == option) found.push_back(text);
    }
    return found;
}

Expected<Arguments> parse(const Command& command, std::span<const std::string> words) {
    Arguments arguments;
    bool optionsEnded = false;
    const std::string seeHelp = fmt::format("see `orrery-cli {} --help`", command.name);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (optionsEnded || !isOption(word)) {
            const bool many = command.positional.ends_with("...]") || command.positional.ends_with("...");
            if (command.positional.empty() || (!many && !arguments.positionals_.empty())) {
                return fail("usage.argument", fmt::format("`{}` is one argument too many", word), "", seeHelp);
            }
            arguments.positionals_.push_back(word);
            continue;
        }
        if (word == "--") {
            optionsEnded = true;
            continue;
        }
        const auto equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const auto option = std::find_if(command.options.begin(), command.options.end(), [&](const Option& candidate) {
            return name.size() > 2 && name.compare(0, 2, "--") == 0 && name.substr(2) == candidate.name;
        });
        if (option == command.options.end()) {
            std::string hint = didYouMean(name, optionNames(command));
            return fail("usage.option", fmt::format("`{}` is not an option of `{}`", name, command.name), "",
                        hint.empty() ? seeHelp : hint);
        }
        if (!option->repeatable && arguments.has(option->name)) {
            return fail("usage.twice", fmt::format("`{}` is given twice", name), "", "remove one of the two");
        }
        std::string text;
        const bool more = i + 1 < words.size();
        if (option->argument.empty()) {
            if (equals != std::string::npos && word.substr(equals + 1) != standardOutput) {
                return fail("usage.value", fmt::format("`{}` takes no value", name), "", seeHelp);
            }
            // What a command writes to standard output alone may be said as where it has the choice.
            if (option->name == "json" && more && words[i + 1] == standardOutput) ++i;
        } else if (equals != std::string::npos) {
            text = word.substr(equals + 1);
        } else if (option->argument.starts_with('[') && (!more || isOption(words[i + 1]))) {
            text = standardOutput;
        } else if (more) {
            text = words[++i];
        } else {
            return fail("usage.value", fmt::format("`{}` needs a value", name),
                        fmt::format("{} {}", name, option->argument), seeHelp);
        }
        if (option->name == "json" && standsAlready(text)) {
            return fail("usage.value", fmt::format("`{}` would write over {}", name, text), "a file that ends in .json",
                        "`--json` at the end writes to standard output");
        }
        arguments.options_.emplace_back(option->name, std::move(text));
    }
    if (command.positionalRequired && arguments.positionals_.empty()) {
        return fail("usage.missing", fmt::format("`{}` needs {}", command.name, command.positional), "", seeHelp);
    }
    for (const std::string_view needed : command.required) {
        if (arguments.has(needed)) continue;
        return fail("usage.missing", fmt::format("`{}` needs `--{}`", command.name, needed), "", seeHelp);
    }
    return arguments;
}

std::string help(const Command& command) {
    std::string out = fmt::format("usage: orrery-cli {}", command.name);
    if (!command.positional.empty()) {
        const std::string name(command.positional);
        out += command.positionalRequired || name.starts_with('[') ? " " + name : " [" + name + "]";
    }
    for (const std::string_view needed : command.required) {
        const auto option = std::find_if(command.options.begin(), command.options.end(),
                                         [&](const Option& candidate) { return candidate.name == needed; });
        out += fmt::format(" --{} {}", needed, option->argument);
    }
    if (command.options.size() > command.required.size()) out += " [options]";
    out += fmt::format("\n\n{}\n", wrapped(command.summary, 0));
    if (!command.details.empty()) out += fmt::format("\n{}\n", wrapped(command.details, 0));
    out += "\noptions:\n";
    std::vector<Option> options = command.options;
    options.push_back({"help", "", "this text"});
    for (const Option& option : options) {
        std::string head = "--" + std::string(option.name);
        if (!option.argument.empty()) head += " " + std::string(option.argument);
        std::string meaning(option.meaning);
        if (option.repeatable) meaning += "; may be repeated";
        out += fmt::format("  {:<24} {}\n", head, wrapped(meaning, 27));
    }
    out += "\nexamples:\n";
    for (const auto& [line, answer] : command.examples) out += fmt::format("  {}\n      {}\n", line, answer);
    return out;
}

std::string help() {
    std::string out =
        "usage: orrery-cli COMMAND [options]\n\n"
        "Orrery predicts how long a machine-learning workload takes on hardware, with an interval, and says why.\n\n"
        "commands:\n";
    for (const Command* command : commands()) out += fmt::format("  {:<11} {}\n", command->name, command->summary);
    out +=
        "\n`orrery-cli COMMAND --help` explains one command, with examples; `orrery-cli --version` prints the "
        "version.\n"
        "Results go to standard output, progress and diagnostics to standard error.\n"
        "exit codes: 0 answered, 1 the question cannot be answered, 2 wrong usage\n";
    return out;
}

}  // namespace orrery::cli
