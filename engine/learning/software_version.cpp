#include "learning/software_version.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace orrery {

namespace {

bool digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Where a word stands among the parts of a version: before the release (which has none), or after it.
int rankOf(std::string_view word) {
    if (word == "dev") return 0;
    if (word == "a" || word == "alpha") return 1;
    if (word == "b" || word == "beta") return 2;
    if (word == "rc" || word == "c" || word == "pre" || word == "preview") return 3;
    return 6;  // post, p, patch, a vendor's suffix
}
constexpr int release = 4, number = 5;

// (rank, number) part by part; numbers weigh by their value, words by their rank.
std::vector<std::pair<int, unsigned long long>> partsOf(std::string_view version) {
    std::vector<std::pair<int, unsigned long long>> parts;
    for (std::size_t i = 0; i < version.size();) {
        if (digit(version[i])) {
            unsigned long long value = 0;
            for (; i < version.size() && digit(version[i]); ++i)
                value = std::min(value, 1'000'000'000'000ull) * 10 + static_cast<unsigned long long>(version[i] - '0');
            parts.emplace_back(number, value);
        } else if (std::isalpha(static_cast<unsigned char>(version[i]))) {
            std::string word;
            for (; i < version.size() && std::isalpha(static_cast<unsigned char>(version[i])); ++i)
                word += static_cast<char>(std::tolower(static_cast<unsigned char>(version[i])));
            parts.emplace_back(rankOf(word), 0);
        } else {
            ++i;
        }
    }
    return parts;
}

}  // namespace

std::string engineName(std::string_view text) {
    std::string name;
    for (const char c : text) {
        if (digit(c)) break;
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return name == "tensorrtllm" ? "trtllm" : name;
}

std::vector<SoftwareVersion> softwareParts(std::string_view software) {
    std::vector<SoftwareVersion> parts;
    while (!software.empty()) {
        const std::size_t end = std::min(software.find_first_of("+,;/"), software.size());
        std::string_view part = software.substr(0, end);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        // `vLLM kernels`: what it is called by comes first.
        if (std::string name = engineName(part.substr(0, part.find(' '))); !name.empty())
            parts.push_back({std::move(name), softwareVersion(part).version});
        software.remove_prefix(std::min(end + 1, software.size()));
    }
    return parts;
}

SoftwareVersion softwareVersion(std::string_view software) {
    for (std::size_t i = 1; i < software.size(); ++i) {
        const char before = software[i - 1];
        if (digit(software[i]) && (before == ' ' || before == '-' || before == '_'))
            return {std::string(software.substr(0, i - 1)), std::string(software.substr(i))};
    }
    return {std::string(software), {}};
}

bool olderVersion(std::string_view a, std::string_view b) {
    const auto left = partsOf(a), right = partsOf(b);
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        const auto x = i < left.size() ? left[i] : std::pair(release, 0ull);
        const auto y = i < right.size() ? right[i] : std::pair(release, 0ull);
        if (x != y) return x < y;
    }
    return false;
}

}  // namespace orrery
