#include "simulation/cpu/block/block.h"

#include <algorithm>
#include <numeric>

namespace orrery::block {

double predecodeBound(const std::vector<FrontEndItem>& items, int blockBytes, const CoreRules& rules) {
    if (rules.predecodeWidth <= 0 || items.empty() || blockBytes <= 0) return 0;
    const int line = rules.fetchBytes;
    const int copies = line / std::gcd(blockBytes, line);
    const int lines = copies * blockBytes / line;
    // Per line: instructions that end in it, whose opcode lies in it but whose end does not, and prefixed ones.
    thread_local std::vector<int> ending, begun, prefixed;
    ending.assign(static_cast<std::size_t>(lines), 0);
    begun.assign(static_cast<std::size_t>(lines), 0);
    prefixed.assign(static_cast<std::size_t>(lines), 0);
    for (int copy = 0; copy < copies; ++copy) {
        for (const auto& item : items) {
            const int start = copy * blockBytes + item.start;
            const auto opcode = static_cast<std::size_t>((start + item.opcodeAt) / line);
            const auto last = static_cast<std::size_t>((start + item.length - 1) / line);
            ++ending[last];
            if (opcode != last) ++begun[opcode];
            if (item.changesLength) ++prefixed[opcode];
        }
    }
    const auto plain = [&](std::size_t at) {
        return (ending[at] + begun[at] + rules.predecodeWidth - 1) / rules.predecodeWidth;
    };
    int cycles = 0;
    const auto count = static_cast<std::size_t>(lines);
    for (std::size_t at = 0; at < count; ++at) {
        const int before = plain((at + count - 1) % count);
        cycles += plain(at) + std::max(0, rules.lengthPenalty * prefixed[at] - std::max(0, before - 1));
    }
    return static_cast<double>(cycles) / copies;
}

double decodeBound(const std::vector<DecodeItem>& items, const CoreRules& rules) {
    if (items.empty() || rules.decoders <= 0) return 0;
    const int decoders = rules.decoders;
    int current = decoders - 1, free = 0;
    std::array<int, 16> firstSeen;
    firstSeen.fill(-1);
    thread_local std::vector<int> groups;
    groups.clear();
    for (int iteration = 0;; ++iteration) {
        groups.push_back(0);
        for (std::size_t i = 0; i < items.size(); ++i) {
            const DecodeItem& item = items[i];
            if (item.complex) {
                current = 0;
                free = std::clamp(rules.decoderSlots - item.fusedSlots, 0, decoders - 1);
            } else if (free == 0 || (current + 1 == decoders - 1 && item.fusesFirst && !rules.fusesLast)) {
                current = 0;
                free = decoders - 1;
            } else {
                ++current;
                --free;
            }
            if (item.branch) free = 0;
            if (current == 0) ++groups[static_cast<std::size_t>(iteration)];
            if (i == 0) {
                const int before = firstSeen[static_cast<std::size_t>(current)];
                if (before >= 0) {
                    const int sum = std::accumulate(groups.begin() + before, groups.begin() + iteration, 0);
                    return static_cast<double>(sum) / (iteration - before);
                }
                firstSeen[static_cast<std::size_t>(current)] = iteration;
            }
        }
    }
}

}  // namespace orrery::block
