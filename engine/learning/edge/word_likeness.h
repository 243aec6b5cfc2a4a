#pragma once

// How alike names are: `yolo5d33w25_160` and `yolo5d33w25_192`, `pi4_ort_ms` and `pi5_ort_ms`. Words and numbers in a
// name and pairs of neighbours, rare ones counting more (inverse document frequency; Manning, Raghavan and Schütze,
// "Introduction to Information Retrieval", section 6.2), compared by the cosine between them. No word has a meaning
// here.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

class WordLikeness {
public:
    WordLikeness() = default;
    explicit WordLikeness(std::span<const std::string> names);

    std::size_t size() const { return vectors_.size(); }
    double between(std::size_t a, std::size_t b) const;   ///< 0 (no word in common) to 1
    std::vector<double> to(std::string_view name) const;  ///< of any name to each of the known ones

private:
    using Weights = std::vector<std::pair<std::size_t, double>>;  ///< by word, rising
    std::map<std::string, std::size_t, std::less<>> words_;
    std::vector<double> rarity_;
    std::vector<Weights> vectors_;
    Weights vectorOf(std::string_view name) const;
};

}  // namespace orrery
