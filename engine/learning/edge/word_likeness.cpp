#include "learning/edge/word_likeness.h"

#include "base/text/words.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace orrery {
namespace {

enum class LetterKind { Blank, Letter, Digit };

LetterKind letterKind(char each) {
    if (each >= '0' && each <= '9') return LetterKind::Digit;
    const bool letter = (each >= 'a' && each <= 'z') || static_cast<unsigned char>(each) >= 0x80 || each == '=';
    return letter ? LetterKind::Letter : LetterKind::Blank;
}

std::set<std::string> wordsOfName(std::string_view name) {
    std::vector<std::string> parts;
    LetterKind before = LetterKind::Blank;
    for (const char each : lower(name)) {
        const LetterKind kind = letterKind(each);
        if (kind != LetterKind::Blank) {
            if (kind != before) parts.emplace_back();
            parts.back() += each;
        }
        before = kind;
    }
    std::set<std::string> words(parts.begin(), parts.end());
    for (std::size_t i = 1; i < parts.size(); ++i) words.insert(parts[i - 1] + " " + parts[i]);
    return words;
}

}  // namespace

WordLikeness::WordLikeness(std::span<const std::string> names) {
    std::vector<double> seen;
    for (const std::string& name : names) {
        for (const std::string& word : wordsOfName(name)) {
            const auto [at, fresh] = words_.emplace(word, words_.size());
            if (fresh) seen.push_back(0);
            seen[at->second] += 1;
        }
    }
    const double all = 1 + static_cast<double>(names.size());
    for (const double each : seen) rarity_.push_back(0.3 + std::log(all / (1 + each)));
    for (const std::string& name : names) vectors_.push_back(vectorOf(name));
}

WordLikeness::Weights WordLikeness::vectorOf(std::string_view name) const {
    Weights out;
    double squares = 0;
    for (const std::string& word : wordsOfName(name)) {
        const auto at = words_.find(word);
        if (at == words_.end()) continue;
        out.emplace_back(at->second, rarity_[at->second]);
        squares += rarity_[at->second] * rarity_[at->second];
    }
    std::sort(out.begin(), out.end());
    for (auto& [word, weight] : out) weight /= std::sqrt(squares);
    return out;
}

namespace {

template <class Weights>
double cosineOf(const Weights& a, const Weights& b) {
    double sum = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        if (i->first == j->first) {
            sum += i->second * j->second;
            ++i, ++j;
        } else if (i->first < j->first) {
            ++i;
        } else {
            ++j;
        }
    }
    return sum;
}

}  // namespace

double WordLikeness::between(std::size_t a, std::size_t b) const {
    return a == b ? 1 : cosineOf(vectors_[a], vectors_[b]);
}

std::vector<double> WordLikeness::to(std::string_view name) const {
    const Weights own = vectorOf(name);
    std::vector<double> out;
    for (const Weights& each : vectors_) out.push_back(cosineOf(own, each));
    return out;
}

}  // namespace orrery
