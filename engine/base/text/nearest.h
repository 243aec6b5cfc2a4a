#pragma once

// Spelling help for messages: which of the known words did a person most likely mean?

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Optimal string alignment distance without regard to case, `-` and `_`: insertions, deletions, replacements and
/// swaps of neighbours cost one each. Words are cut at 64 characters.
int editDistance(std::string_view a, std::string_view b);
/// The candidates within a third of the word's length, or that contain it, nearest first.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t most = 3);
/// ``did you mean `clock` or `block`?``; empty if nothing comes near.
std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates);
/// `a`, `b` and `c`, each in backquotes.
std::string quotedList(const std::vector<std::string>& words, std::string_view conjunction);

}  // namespace orrery
