#include "base/text/nearest.h"
#include "base/text/words.h"
#include "methods/adapter/adapter_method.h"
#include "methods/method.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

const Method* findIn(std::span<const Method> methods, std::string_view id) {
    for (const auto all : {methods, adapterMethods()}) {
        const auto found = std::find_if(all.begin(), all.end(), [id](const Method& m) { return m.card.id == id; });
        if (found != all.end()) return &*found;
    }
    return nullptr;
}

template <class Items, class Name>
std::string joined(const Items& items, Name name) {
    std::string text;
    for (const auto& item : items) text.append(text.empty() ? "" : ", ").append(name(item));
    return text;
}

template <class Items, class Name>
std::string nearestOf(std::string_view word, const Items& items, Name name) {
    std::vector<std::string> words;
    for (const auto& item : items) words.emplace_back(name(item));
    return didYouMean(word, words);
}

// The first comma that stands in no parentheses: a filling of a slot has options of its own.
std::size_t commaOutside(std::string_view text) {
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')') --depth;
        if (text[at] == ',' && depth == 0) return at;
    }
    return std::string_view::npos;
}

constexpr auto keyOf = [](const MethodOption& option) { return option.key; };
constexpr auto idOf = [](const Method& method) { return method.card.id; };
constexpr auto itself = [](std::string_view word) { return word; };

Expected<void> readOption(std::string_view term, const Method& method, std::span<const Method> methods,
                          OptionValues& values) {
    const auto equals = term.find('=');
    const auto key = trimmed(term.substr(0, equals));
    const auto value = equals == std::string_view::npos ? std::string_view() : trimmed(term.substr(equals + 1));
    const auto& options = method.card.options;
    const auto knows = [&](const MethodOption& o) {
        return std::find(o.choices.begin(), o.choices.end(), value) != o.choices.end();
    };
    const auto renamed =
        std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.formerly == key && knows(o); });
    const auto option = std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.key == key; });
    if (renamed != options.end() && (option == options.end() || !knows(*option))) {
        values[std::string(renamed->key)] = std::string(value);
        return {};
    }
    if (option == options.end()) {
        return fail("method.bad-option", fmt::format("`{}` has no option `{}`", method.card.id, key),
                    options.empty() ? "no options" : "one of " + joined(options, keyOf),
                    nearestOf(key, options, keyOf));
    }
    if (option->slot && value != option->fallback) {
        auto filling = methodChoice(value, methods);
        if (!filling) return tl::unexpected(std::move(filling.error()));
        const Method* filled = findIn(methods, filling->id);
        if (!filled || filled->card.level != *option->slot) {
            return fail("method.bad-option",
                        fmt::format("`{}` does not fill the slot `{}` of `{}`", value, key, method.card.id),
                        fmt::format("a method of the {} level, such as {}", toText(*option->slot),
                                    joined(option->choices, itself)));
        }
        values[std::string(key)] = toText(*filling);
        return {};
    }
    if (!option->slot && !option->choices.empty() && !knows(*option)) {
        return fail("method.bad-option",
                    fmt::format("`{}` is no value of the option `{}` of `{}`", value, key, method.card.id),
                    "one of " + joined(option->choices, itself), nearestOf(value, option->choices, itself));
    }
    values[std::string(key)] = std::string(value);
    return {};
}

}  // namespace

Expected<MethodChoice> methodChoice(std::string_view text, std::span<const Method> methods) {
    text = trimmed(text);
    const auto open = text.find('(');
    const auto id = trimmed(text.substr(0, open));
    const Method* method = findIn(methods, id);
    if (!method) {
        const auto hint = nearestOf(id, methods, idOf);
        return fail("method.unknown", fmt::format("there is no method `{}`", id), "one of " + joined(methods, idOf),
                    hint.empty() ? "`orrery-cli methods` lists them" : hint);
    }
    MethodChoice choice{std::string(id), {}};
    if (open == std::string_view::npos) return choice;
    if (text.back() != ')') {
        return fail("method.bad-option", fmt::format("the options of `{}` do not end", text), "id(key=value, …)",
                    "In a YAML list between brackets, put the whole choice into quotes");
    }
    auto inside = text.substr(open + 1, text.size() - open - 2);
    while (!trimmed(inside).empty()) {
        const auto comma = commaOutside(inside);
        if (auto read = readOption(trimmed(inside.substr(0, comma)), *method, methods, choice.options); !read) {
            return tl::unexpected(std::move(read.error()));
        }
        inside = comma == std::string_view::npos ? std::string_view() : inside.substr(comma + 1);
    }
    return choice;
}

std::string toText(const MethodCard& card, const OptionValues& options) {
    std::string inside;
    for (const MethodOption& option : card.options) {
        const auto found = options.find(option.key);
        if (found == options.end() || found->second == option.fallback) continue;
        inside.append(inside.empty() ? "" : ", ").append(option.key).append("=").append(found->second);
    }
    return inside.empty() ? std::string(card.id) : fmt::format("{}({})", card.id, inside);
}

std::string toText(const MethodChoice& choice) {
    if (const Method* method = findMethod(choice.id)) return toText(method->card, choice.options);
    std::string inside;
    for (const auto& [key, value] : choice.options) {
        inside.append(inside.empty() ? "" : ", ").append(key).append("=").append(value);
    }
    return inside.empty() ? choice.id : choice.id + "(" + inside + ")";
}

std::vector<std::string> splitMethods(std::string_view list) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        if (at < list.size() && list[at] == '(') ++depth;
        if (at < list.size() && list[at] == ')') --depth;
        if (at < list.size() && (list[at] != ',' || depth > 0)) continue;
        parts.emplace_back(trimmed(list.substr(begin, at - begin)));
        begin = at + 1;
    }
    return parts;
}

std::string methodTitle(std::string_view choice) {
    const Method* method = findMethod(choice);
    if (!method) return std::string(choice);
    const auto open = choice.find('(');
    const auto options = open == std::string_view::npos ? std::string_view() : choice.substr(open);
    return options.empty() ? std::string(method->card.title) : fmt::format("{} {}", method->card.title, options);
}

bool asksForFile(const MethodCard& card) {
    return std::any_of(card.options.begin(), card.options.end(),
                       [](const MethodOption& o) { return !o.slot && o.choices.empty() && o.needed; });
}

std::string_view optionOf(const MethodCard& card, const EstimateContext& context, std::string_view key) {
    if (const auto found = context.options.find(key); found != context.options.end()) return found->second;
    for (const MethodOption& option : card.options) {
        if (option.key == key) return option.fallback;
    }
    return {};
}

}  // namespace orrery
