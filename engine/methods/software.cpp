#include "methods/software.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "base/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace orrery {

namespace {

constexpr double longestIssue = 1;  // s

Unexpected badOption(std::string message, std::string hint = {}) {
    return fail("software.bad-option", std::move(message), "graphs=on, graphs=off, host=TIME", std::move(hint));
}

Expected<void> readSoftwareOption(std::string_view text, Software& out) {
    const auto equals = text.find('=');
    const std::string_view key = trimmed(text.substr(0, equals));
    const std::string_view value = equals == text.npos ? std::string_view{} : trimmed(text.substr(equals + 1));
    if (key == "graphs") {
        if (value != "on" && value != "off") return badOption(fmt::format("`graphs={}` is neither on nor off", value));
        out.graphs = value == "on";
        return {};
    }
    if (key == "host") {
        const auto measure = parseMeasure(value, Dimension::Time);
        if (!measure || !(measure->si >= 0) || measure->si > longestIssue)
            return badOption(fmt::format("`host={}` is no time from 0 to {} s", value, longestIssue),
                             "for instance host=12 us");
        out.hostSeconds = measure->si;
        return {};
    }
    return badOption(fmt::format("software has no option `{}`", key), didYouMean(key, {"graphs", "host"}));
}

}  // namespace

std::string toText(const Software& software) {
    std::string options;
    const auto add = [&](std::string text) { options += (options.empty() ? "" : ", ") + std::move(text); };
    if (software.graphs) add(*software.graphs ? "graphs=on" : "graphs=off");
    if (software.hostSeconds) add(fmt::format("host={:.6g} us", *software.hostSeconds * 1e6));
    return options.empty() ? software.engine : fmt::format("{}({})", software.engine, options);
}

Expected<Software> parseSoftware(std::string_view text) {
    Software software;
    text = trimmed(text);
    const auto open = text.find('(');
    const std::string_view engine = trimmed(text.substr(0, open));
    if (!engine.empty() && !std::isalpha(static_cast<unsigned char>(engine.front())))
        return fail("software.bad-name", fmt::format("`{}` names no software", engine),
                    "an engine or library and its version, such as `vLLM 0.24.0`");
    software.engine = engine;
    if (open == text.npos) return software;
    if (!text.ends_with(')')) return badOption(fmt::format("`{}` does not end", text));
    std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    while (!inside.empty()) {
        const auto comma = std::min(inside.find(','), inside.size());
        if (auto read = readSoftwareOption(trimmed(inside.substr(0, comma)), software); !read)
            return Unexpected(std::move(read.error()));
        inside.remove_prefix(std::min(comma + 1, inside.size()));
    }
    return software;
}

}  // namespace orrery
