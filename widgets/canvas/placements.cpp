#include "widgets/canvas/placements.h"

#include "base/text/words.h"
#include "hardware/walk.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <optional>

namespace orrery::ui {
namespace {

// A key as YAML: plain where that is safe, else in double quotes.
std::string written(std::string_view key) {
    const auto safe = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' || c == '.' || c == '-';
    };
    bool plain = !key.empty() && (std::isalpha(static_cast<unsigned char>(key.front())) || key.front() == '_');
    for (std::size_t i = 0; i < key.size() && plain; ++i) plain = safe(key[i]) || (key[i] == '#' && i > 0);
    for (const std::string_view word : {"null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE",
                                        "yes", "no", "on", "off", "y", "n"})
        plain = plain && key != word;
    if (plain) return std::string(key);
    std::string quoted = "\"";
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += fmt::format("\\x{:02x}", byte);
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

int hexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Takes a key and its colon off the front of a line.
std::optional<std::string> takeKey(std::string_view& line) {
    std::string key;
    if (!line.empty() && line.front() == '"') {
        std::size_t i = 1;
        for (; i < line.size() && line[i] != '"'; ++i) {
            if (line[i] != '\\') {
                key += line[i];
                continue;
            }
            if (++i >= line.size()) return std::nullopt;
            if (line[i] == 'x' && i + 2 < line.size() && hexDigit(line[i + 1]) >= 0 && hexDigit(line[i + 2]) >= 0) {
                key += static_cast<char>(hexDigit(line[i + 1]) * 16 + hexDigit(line[i + 2]));
                i += 2;
            } else if (line[i] == '"' || line[i] == '\\') {
                key += line[i];
            } else {
                return std::nullopt;
            }
        }
        if (i + 1 >= line.size() || line[i + 1] != ':') return std::nullopt;
        line.remove_prefix(i + 2);
        return key;
    }
    const std::size_t colon = line.find(": ");
    const std::size_t end = colon != std::string_view::npos         ? colon
                            : (!line.empty() && line.back() == ':') ? line.size() - 1
                                                                    : line.npos;
    if (end == line.npos || end == 0) return std::nullopt;
    key = line.substr(0, end);
    if (key.find_first_of("'{}[],&*!|>%@` ") != std::string::npos || key.front() == '#' || key.front() == '-')
        return std::nullopt;
    line.remove_prefix(end + 1);
    return key;
}

std::optional<double> number(std::string_view text) {
    const auto value = numberIn(text);
    return value && std::abs(*value) <= 1e9 ? value : std::nullopt;
}

struct Reading {
    Placement placement{.placed = false};
    bool x = false, y = false, ok = true;

    void take(std::string_view name, std::string_view value) {
        for (std::string_view* part : {&name, &value}) {  // some writers quote negative numbers, or `y`
            if (part->size() >= 2 && part->front() == '"' && part->back() == '"')
                *part = part->substr(1, part->size() - 2);
        }
        const std::optional<double> n = number(value);
        if (name == "x" && n) {
            placement.x = *n;
            x = true;
        } else if (name == "y" && n) {
            placement.y = *n;
            y = true;
        } else if (name == "width" && n && *n >= 0) {
            placement.width = *n;
        } else if (name == "height" && n && *n >= 0) {
            placement.height = *n;
        } else if (name == "folded" && (value == "true" || value == "false")) {
            placement.folded = value == "true";
        } else if (name == "expanded" && (value == "true" || value == "false")) {
            placement.expanded = value == "true";
        } else {
            ok = false;
        }
    }
    std::optional<Placement> done() {
        if (!ok || x != y) return std::nullopt;
        placement.placed = x;
        return placement;
    }
};

void takeFields(std::string_view fields, Reading& reading) {
    while (!fields.empty() && reading.ok) {
        const std::size_t comma = fields.find(',');
        const std::string_view field = fields.substr(0, comma);
        fields.remove_prefix(comma == fields.npos ? fields.size() : comma + 1);
        const std::size_t colon = field.find(':');
        if (colon == field.npos) {
            reading.ok = trimmed(field).empty();
        } else {
            reading.take(trimmed(field.substr(0, colon)), trimmed(field.substr(colon + 1)));
        }
    }
}

// One top-level entry: its first line and those indented below it.
std::optional<std::pair<std::string, Placement>> readEntry(std::string_view entry) {
    const std::size_t lineEnd = entry.find('\n');
    std::string_view line = entry.substr(0, lineEnd);
    std::string_view rest = lineEnd == entry.npos ? std::string_view{} : entry.substr(lineEnd + 1);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
    std::optional<std::string> key = takeKey(line);
    if (!key) return std::nullopt;
    Reading reading;
    const std::string_view value = trimmed(line);
    if (value.size() >= 2 && value.front() == '{' && value.back() == '}') {
        if (!trimmed(rest).empty()) return std::nullopt;
        takeFields(value.substr(1, value.size() - 2), reading);
    } else if (value.empty() && !trimmed(rest).empty()) {
        while (!rest.empty() && reading.ok) {
            const std::size_t end = rest.find('\n');
            const std::string_view field = trimmed(rest.substr(0, end));
            rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
            if (field.empty()) continue;
            const std::size_t colon = field.find(':');
            if (colon == field.npos) return std::nullopt;
            reading.take(trimmed(field.substr(0, colon)), trimmed(field.substr(colon + 1)));
        }
    } else {
        return std::nullopt;
    }
    const std::optional<Placement> placement = reading.done();
    if (!placement) return std::nullopt;
    return std::pair(std::move(*key), *placement);
}

std::string tenth(double value) {
    const double rounded = std::round(value * 10) / 10;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

}  // namespace

const Placement* Placements::find(std::string_view key) const {
    const auto found = at.find(key);
    return found == at.end() ? nullptr : &found->second;
}

std::string placementKey(const Component& root, const ComponentPath& path) {
    std::string key;
    const Component* parent = &root;
    for (const int index : path) {
        if (index < 0 || static_cast<std::size_t>(index) >= partsIn(*parent).size()) return {};
        const Component& child = partsIn(*parent)[static_cast<std::size_t>(index)];
        int ordinal = 1;
        for (int before = 0; before < index; ++before) {
            if (nameOf(partsIn(*parent)[static_cast<std::size_t>(before)]) == nameOf(child)) ++ordinal;
        }
        if (!key.empty()) key += '/';
        key += placementName(nameOf(child), ordinal);
        parent = &child;
    }
    return key;
}

std::string placementName(std::string_view name, int ordinal) {
    std::string text;
    for (const char c : name) {
        if (c == '/' || c == '#' || c == '%') {
            text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
            text += c;
        }
    }
    if (ordinal > 1) text += fmt::format("#{}", ordinal);
    return text;
}

Placements readPlacements(std::string_view yaml) {
    Placements placements;
    while (!yaml.empty()) {
        // An entry reaches to the next line that is neither indented nor empty.
        std::size_t end = yaml.find('\n');
        while (end != yaml.npos && end + 1 < yaml.size() &&
               (yaml[end + 1] == ' ' || yaml[end + 1] == '\t' || yaml[end + 1] == '\n'))
            end = yaml.find('\n', end + 1);
        const std::string_view entry = yaml.substr(0, end == yaml.npos ? yaml.npos : end + 1);
        yaml.remove_prefix(entry.size());
        auto read = readEntry(entry);
        if (read && !placements.at.contains(read->first)) {
            placements.at.insert(std::move(*read));
        } else if (!trimmed(entry).empty()) {
            placements.other += entry;
            if (placements.other.back() != '\n') placements.other += '\n';
        }
    }
    return placements;
}

std::string writePlacements(const Placements& placements) {
    std::string text;
    for (const auto& [key, at] : placements.at) {
        std::string fields;
        const auto add = [&fields](std::string_view name, std::string_view value) {
            fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", name, value);
        };
        if (at.placed) {
            add("x", tenth(at.x));
            add("y", tenth(at.y));
        }
        if (at.width > 0) add("width", tenth(at.width));
        if (at.height > 0) add("height", tenth(at.height));
        if (at.folded) add("folded", "true");
        if (at.expanded) add("expanded", "true");
        text += fmt::format("{}: {{{}}}\n", written(key), fields);
    }
    return text + placements.other;
}

}  // namespace orrery::ui
