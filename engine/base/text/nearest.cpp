#include "base/text/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::size_t longest = 64;

std::string folded(std::string_view text) {
    std::string out(text.substr(0, longest));
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-') c = '_';
    }
    return out;
}

}  // namespace

int editDistance(std::string_view left, std::string_view right) {
    const std::string a = folded(left), b = folded(right);
    std::array<std::array<int, longest + 1>, 3> rows{};
    for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto& row = rows[i % 3];
        const auto& above = rows[(i + 2) % 3];
        const auto& twoAbove = rows[(i + 1) % 3];
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], twoAbove[j - 2] + 1);
            }
        }
    }
    return rows[a.size() % 3][b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates, std::size_t most) {
    std::vector<std::pair<int, std::string>> found;
    const std::string needle = folded(word);
    const int limit = std::max<int>(1, static_cast<int>((needle.size() + 2) / 3));
    for (const std::string& candidate : candidates) {
        int distance = editDistance(word, candidate);
        // A slip in the beginning of a longer name: `h1000` is nearer to `h100-sxm` than to `v100`.
        if (needle.size() >= 4 && candidate.size() > needle.size()) {
            distance = std::min(distance, editDistance(word, std::string_view(candidate).substr(0, needle.size())));
        }
        const bool inside = needle.size() >= 3 && folded(candidate).find(needle) != std::string::npos;
        if (distance <= limit || inside) found.emplace_back(distance, candidate);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (auto& [distance, text] : found) {
        if (out.size() < most && std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
    }
    return out;
}

std::string quotedList(const std::vector<std::string>& words, std::string_view conjunction) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", conjunction) : ", ";
        text += "`" + words[i] + "`";
    }
    return text;
}

std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string> close = nearest(word, candidates);
    return close.empty() ? std::string() : "did you mean " + quotedList(close, "or") + "?";
}

}  // namespace orrery
