#include "methods/method.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

const Method* findIn(std::span<const Method> methods, std::string_view id) {
    const auto found = std::find_if(methods.begin(), methods.end(), [id](const Method& m) { return m.card.id == id; });
    return found == methods.end() ? nullptr : &*found;
}

template <class Items, class Name>
std::string joined(const Items& items, Name name) {
    std::string text;
    for (const auto& item : items) text.append(text.empty() ? "" : ", ").append(name(item));
    return text;
}

Expected<void> readOption(std::string_view term, const Method& method, OptionValues& values) {
    const auto equals = term.find('=');
    const auto key = trimmed(term.substr(0, equals));
    const auto value = equals == std::string_view::npos ? std::string_view() : trimmed(term.substr(equals + 1));
    const auto& options = method.card.options;
    const auto option = std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.key == key; });
    if (option == options.end()) {
        return fail("method.bad-option", fmt::format("{} has no option '{}'", method.card.id, key),
                    options.empty() ? "no options" : joined(options, [](const auto& o) { return o.key; }));
    }
    if (std::find(option->choices.begin(), option->choices.end(), value) == option->choices.end()) {
        return fail("method.bad-option", fmt::format("'{}' is no value of {}'s option {}", value, method.card.id, key),
                    joined(option->choices, [](std::string_view choice) { return choice; }));
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
        return fail("method.unknown", fmt::format("there is no method '{}'", id),
                    "one of " + joined(methods, [](const Method& m) { return m.card.id; }));
    }
    MethodChoice choice{std::string(id), {}};
    if (open == std::string_view::npos) return choice;
    if (text.back() != ')') {
        return fail("method.bad-option", fmt::format("the options of '{}' do not end", text), "id(key=value, …)");
    }
    auto inside = text.substr(open + 1, text.size() - open - 2);
    while (!trimmed(inside).empty()) {
        const auto comma = inside.find(',');
        if (auto read = readOption(trimmed(inside.substr(0, comma)), *method, choice.options); !read) {
            return tl::unexpected(std::move(read.error()));
        }
        inside = comma == std::string_view::npos ? std::string_view() : inside.substr(comma + 1);
    }
    return choice;
}

std::string toText(const MethodChoice& choice) {
    const Method* method = findMethod(choice.id);
    std::string inside;
    const auto add = [&](std::string_view key, std::string_view value) {
        inside.append(inside.empty() ? "" : ", ").append(key).append("=").append(value);
    };
    if (method) {
        for (const MethodOption& option : method->card.options) {
            const auto found = choice.options.find(option.key);
            if (found != choice.options.end() && found->second != option.fallback) add(option.key, found->second);
        }
    } else {
        for (const auto& [key, value] : choice.options) add(key, value);
    }
    return inside.empty() ? choice.id : choice.id + "(" + inside + ")";
}

std::string_view optionOf(const MethodCard& card, const EstimateContext& context, std::string_view key) {
    if (const auto found = context.options.find(key); found != context.options.end()) return found->second;
    for (const MethodOption& option : card.options) {
        if (option.key == key) return option.fallback;
    }
    return {};
}

}  // namespace orrery
