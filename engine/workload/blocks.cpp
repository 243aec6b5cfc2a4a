#include "workload/blocks.h"

#include "base/text/words.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace orrery {
namespace {

constexpr std::size_t deepest = 32;
constexpr std::string_view times = " ×";
constexpr std::string_view partSeparator = " / ";

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

bool isNumber(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), isDigit);
}

/// `layers ×32` as label and count; a label without a count has 0.
std::pair<std::string_view, std::int64_t> parsePart(std::string_view part) {
    const std::size_t cut = part.rfind(times);
    if (cut == std::string_view::npos) return {part, 0};
    const std::int64_t count = wholeIn(part.substr(cut + times.size())).value_or(0);
    if (count < 1) return {part, 0};
    return {part.substr(0, cut), count};
}

/// Sets what the names of a run's operators have in common.
void setSharedScopes(BlockRun& run, const std::vector<std::vector<std::string_view>>& scopes, const Graph& graph) {
    const auto& front = scopes[run.first];
    std::size_t shared = front.size();
    for (std::size_t i = run.first + 1; i < run.first + run.size; ++i) {
        shared = std::min(shared, scopes[i].size());
        for (std::size_t s = 0; s < shared; ++s) {
            if (scopes[i][s] != front[s]) shared = s;
        }
    }
    run.sharedScopes = shared;
    if (shared == 0) return;
    const std::string_view name = graph.operators[run.first].name;
    const auto end = static_cast<std::size_t>(front[shared - 1].data() + front[shared - 1].size() - name.data());
    run.isScope = stemOf(name.substr(0, end)) == std::string_view(run.label);
}

}  // namespace

std::vector<std::string_view> scopesOf(std::string_view name) {
    const char separator = name.find('/') != std::string_view::npos ? '/' : '.';
    std::vector<std::string_view> words;
    for (std::size_t from = 0; from <= name.size() && words.size() <= deepest;) {
        const std::size_t end = std::min(name.find(separator, from), name.size());
        std::string_view word = name.substr(from, end - from);
        if (separator == '.' && isNumber(word) && !words.empty()) {
            const char* start = words.back().data();
            word = {start, static_cast<std::size_t>(word.data() + word.size() - start)};
        }
        if (!word.empty()) words.push_back(word);
        from = end + 1;
    }
    if (words.empty()) return words;
    const std::string_view own = words.back();
    words.pop_back();
    // `relu.1` is one word, not an operator `1` in a scope `relu`
    while (!words.empty() && words.back().data() == own.data()) words.pop_back();
    return words;
}

std::string_view stemOf(std::string_view name) {
    while (!name.empty() && (isDigit(name.back()) || name.back() == '.' || name.back() == '/' || name.back() == '_')) {
        name.remove_suffix(1);
    }
    return name;
}

Blocks blocksOf(const Graph& graph) {
    Blocks blocks;
    const std::size_t count = graph.operators.size();
    blocks.ofOp.resize(count);
    std::unordered_map<std::string, std::int32_t> open;
    for (std::size_t i = 0; i < count; ++i) {
        const Operator& op = graph.operators[i];
        const std::string_view text = op.block;
        for (std::size_t from = 0; from < text.size() && blocks.ofOp[i].size() < deepest;) {
            const std::size_t end = std::min(text.find(partSeparator, from), text.size());
            const std::string_view part = text.substr(from, end - from);
            from = end + partSeparator.size();
            auto [label, times] = parsePart(part);
            if (times == 0 && end == text.size() && blocks.ofOp[i].empty()) times = op.repeat;
            if (times < 2) continue;
            auto [place, fresh] = open.emplace(std::string(part), -1);
            const std::int32_t last = place->second;
            const bool goesOn = last >= 0 && blocks.runs[static_cast<std::size_t>(last)].first +
                                                     blocks.runs[static_cast<std::size_t>(last)].size ==
                                                 i;
            if (!goesOn) {
                place->second = static_cast<std::int32_t>(blocks.runs.size());
                blocks.runs.push_back({std::string(label), times, i, 0});
            }
            BlockRun& run = blocks.runs[static_cast<std::size_t>(place->second)];
            if (run.first + run.size > i) continue;  // the same label twice on one operator
            ++run.size;
            blocks.ofOp[i].push_back(place->second);
        }
    }
    std::vector<std::vector<std::string_view>> scopes(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!blocks.ofOp[i].empty()) scopes[i] = scopesOf(graph.operators[i].name);
    }
    for (BlockRun& run : blocks.runs) setSharedScopes(run, scopes, graph);
    for (auto& of : blocks.ofOp) {
        std::stable_sort(of.begin(), of.end(), [&](std::int32_t a, std::int32_t b) {
            return blocks.runs[static_cast<std::size_t>(a)].size > blocks.runs[static_cast<std::size_t>(b)].size;
        });
    }
    return blocks;
}

}  // namespace orrery
