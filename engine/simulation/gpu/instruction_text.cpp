// Instructions as people read them.

#include "base/text/words.h"
#include "simulation/gpu/templates/kernel_template.h"

#include <fmt/format.h>

namespace orrery::gpusim {

std::vector<InstructionText> TemplateSource::texts() const {
    std::vector<InstructionText> out;
    for (const TemplateInstruction& one : kernel_->instructions()) {
        std::string text = one.opcode;
        const char* between = " ";
        const auto add = [&](int reg) { text += fmt::format("{}R{}", between, reg), between = ", "; };
        if (one.destination >= 0) add(one.destination);
        for (const int source : one.sources) add(source);
        out.push_back({16 * out.size(), std::move(text)});
    }
    return out;
}

// The key of a static instruction is its words in the trace: number of destinations, they, opcode, number of sources,
// they.
std::vector<InstructionText> KernelTrace::texts() const {
    std::vector<InstructionText> out(statics_.size());
    for (const auto& [key, what] : known_) {
        std::string opcode, registers;
        std::string_view rest = key;
        while (true) {
            const auto from = rest.find_first_not_of(" \t");
            if (from == std::string_view::npos) break;
            rest.remove_prefix(from);
            const auto word = rest.substr(0, rest.find_first_of(" \t"));
            rest.remove_prefix(word.size());
            if (word.find_first_not_of("0123456789") == std::string_view::npos) continue;
            if (word.front() == 'R' && word.find_first_not_of("0123456789", 1) == std::string_view::npos)
                registers += fmt::format("{}{}", registers.empty() ? " " : ", ", word);
            else
                opcode = word;
        }
        out[what].text = opcode + registers;
    }
    // Generic accesses that turned out to be of one space: `WHAT/SPACE`.
    for (const auto& [key, what] : known_) {
        const auto slash = key.find('/');
        const auto of = slash == std::string::npos ? std::nullopt : wholeIn(key.substr(0, slash));
        if (of && static_cast<std::size_t>(*of) < out.size()) out[what] = out[static_cast<std::size_t>(*of)];
    }
    for (std::size_t slot = memo_.size(); slot-- > 0;) {
        if (!memo_[slot].text.empty()) out[memo_[slot].what].pc = 16 * slot;
    }
    return out;
}

}  // namespace orrery::gpusim
