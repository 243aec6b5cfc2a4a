#include "evaluation/edge/network_facts.h"

#include "base/maths.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace orrery {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t leastOfWord = 3;  // networks that share a word of a column
constexpr std::size_t mostWords = 12;   // a column of more words names, and says nothing of what is alike

}  // namespace

double factIn(std::string_view cell) {
    double product = 1;
    const std::string_view whole = trimmed(cell);
    const std::string_view first = whole.substr(0, whole.find_first_of(", |"));
    for (const std::string_view side : split(first, 'x')) {
        const auto number = numberIn(trimmed(side));
        if (!number || !(*number > 0)) return unknown;
        product *= *number;
    }
    return product;
}

void addFacts(EdgeTable& table, const CsvFile& file, std::span<const std::size_t> columns,
              std::span<const std::size_t> networkOf) {
    const std::size_t networks = table.networks.size();
    table.shapes.resize(networks);
    for (const std::size_t c : columns) {
        std::vector<std::vector<double>> numbers(networks);
        std::map<std::string, std::set<std::size_t>> words;
        bool counted = false;
        for (std::size_t r = 0; r < file.rows.size(); ++r) {
            if (c >= file.rows[r].size() || file.rows[r][c].empty()) continue;
            const double number = factIn(file.rows[r][c]);
            if (std::isfinite(number))
                numbers[networkOf[r]].push_back(std::log(number));
            else
                words[lower(file.rows[r][c])].insert(networkOf[r]);
            counted = counted || std::isfinite(number);
        }
        if (counted) {
            table.facts.push_back(file.header[c]);
            for (std::size_t n = 0; n < networks; ++n)
                table.shapes[n].push_back(numbers[n].empty() ? unknown : quantileType7(numbers[n], 0.5));
        } else if (words.size() <= mostWords) {
            for (const auto& [word, those] : words) {
                if (those.size() < leastOfWord || those.size() + leastOfWord > networks) continue;
                table.facts.push_back(fmt::format("{}={}", file.header[c], word));
                for (std::size_t n = 0; n < networks; ++n) table.shapes[n].push_back(those.contains(n) ? 1 : 0);
            }
        }
    }
}

std::string commonName(std::string_view name) {
    std::string text = lower(name);
    const auto letter = [](char each) { return each >= 'a' && each <= 'z'; };
    const auto digit = [](char each) { return each >= '0' && each <= '9'; };
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] != '.' || !letter(text[i + 1])) continue;
        std::size_t last = text.size();
        while (last > i && digit(text[last - 1])) --last;
        const bool number = last < text.size() && !letter(text[last - 1]);
        text = text.substr(0, i) + (number ? "_" + text.substr(last) : std::string());
        break;
    }
    std::string out;
    for (const char each : text) {
        if (letter(each) || digit(each) || each == '.')
            out += each;
        else if (!out.empty() && out.back() != '_')
            out += '_';
    }
    return out;
}

Expected<void> addBeside(EdgeTable& table, const EdgeTable& other) {
    if (!table.space.empty() || !other.space.empty()) {
        return fail("edge.space", fmt::format("{} or {} is of a search space", table.path, other.path),
                    "two tables of networks by name", "codes say themselves what their networks are made of");
    }
    std::map<std::string, std::size_t> places;
    for (std::size_t n = 0; n < other.networks.size(); ++n) places.emplace(commonName(other.networks[n]), n);
    std::vector<std::optional<std::size_t>> of;
    std::size_t found = 0;
    for (const std::string& each : table.networks) {
        const auto at = places.find(commonName(each));
        of.push_back(at == places.end() ? std::nullopt : std::optional(at->second));
        found += of.back() ? 1 : 0;
    }
    if (found == 0) {
        return fail("edge.no-common", fmt::format("{} and {} have no network in common", table.path, other.path),
                    "names of the same networks", fmt::format("such as “{}”", table.networks.front()));
    }
    // What both say is the table's own; the other fills what it lacks.
    if (!other.facts.empty()) table.shapes.resize(table.networks.size());
    for (std::size_t c = 0; c < other.facts.size(); ++c) {
        const auto own = static_cast<std::size_t>(std::find(table.facts.begin(), table.facts.end(), other.facts[c]) -
                                                  table.facts.begin());
        if (own == table.facts.size()) table.facts.push_back(other.facts[c]);
        for (std::size_t n = 0; n < of.size(); ++n) {
            table.shapes[n].resize(table.facts.size(), unknown);
            if (of[n] && std::isnan(table.shapes[n][own])) table.shapes[n][own] = other.shapes[*of[n]][c];
        }
    }
    if (other.targets.empty()) return {};
    for (std::size_t t = table.groups.size(); t < table.targets.size(); ++t) table.groups.push_back(table.targets[t]);
    for (std::size_t t = 0; t < other.targets.size(); ++t) {
        std::vector<double> values;
        for (const auto& each : of) values.push_back(each ? other.values[t][*each] : unknown);
        table.values.push_back(std::move(values));
        table.targets.push_back(other.targets[t]);
        table.described.push_back(other.describedAs(t));
        table.groups.push_back(t < other.groups.size() ? other.groups[t] : other.targets[t]);
        ++table.besides;
    }
    return {};
}

}  // namespace orrery
