#include "learning/schedules/schedule_tokens.h"

#include "learning/schedules/schedule_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace orrery {
namespace {

// The operator, then steps as Ansor names them; a knob of AutoTVM that is no split is the last. Annotations have the
// codes of TVM's `IteratorAnnotation`: none, unroll, vectorise, parallel, vthread, x, y and z of blocks and threads,
// tensorise.
constexpr std::array<std::string_view, 15> words{"operator", "SP", "RE",  "AN",  "FU", "FSP", "FFSP", "CA",
                                                 "CI",       "CR", "CHR", "CHW", "RF", "PR",  "knob"};
constexpr std::size_t roleAt = words.size(), annotationAt = roleAt + loopRoles, annotations = 12,
                      orderAt = annotationAt + annotations, numbersAt = orderAt + 1, numbers = tokenWidth - numbersAt;
static_assert(numbers >= 10);

float shortened(double number) {
    return float(std::copysign(std::log2(1 + std::abs(number)) / 3, number));
}

// The template that made the program, by its name: it says what the splits mean. A code of as many bits as fit.
void addTemplate(std::string_view task, float* bits) {
    std::uint64_t hash = 1469598103934665603u;  // FNV-1a
    for (const char c : task) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    for (std::size_t i = 0; i < loopRoles + annotations; ++i) bits[i] = float(hash >> (17 + i) & 1);
}

class Tokens {
public:
    explicit Tokens(std::vector<float>& rows) : rows_(rows) {}
    /// Null where there are as many as fit.
    float* add(std::string_view word) {
        if (count_ == mostTokens) return nullptr;
        rows_.resize(rows_.size() + tokenWidth);
        float* token = rows_.data() + rows_.size() - tokenWidth;
        const auto found = std::find(words.begin(), words.end(), word);
        token[found == words.end() ? words.size() - 1 : static_cast<std::size_t>(found - words.begin())] = 1;
        token[orderAt] = float(count_++) / float(mostTokens);
        return token;
    }
    void add(std::string_view word, std::span<const double> all) {
        float* token = add(word);
        for (std::size_t i = 0; token && i < std::min(numbers, all.size()); ++i)
            token[numbersAt + i] = shortened(all[i]);
    }
    std::size_t count() const { return count_; }

private:
    std::vector<float>& rows_;
    std::size_t count_ = 0;
};

void addPrimitives(const TunedRow& row, Tokens& tokens) {
    for (const TuningStep& each : row.steps) {
        // Of an annotation the last number says which.
        if (each.kind == "AN" && !each.all.empty()) {
            float* token = tokens.add(each.kind);
            if (!token) return;
            const auto kind = static_cast<std::size_t>(std::clamp(each.all.back(), 0.0, annotations - 1.0));
            token[annotationAt + kind] = 1;
            for (std::size_t i = 0; i + 1 < std::min(numbers, each.all.size()); ++i)
                token[numbersAt + i] = shortened(each.all[i]);
        } else {
            tokens.add(each.kind, each.all);
        }
    }
}

void addKnobs(const TunedRow& row, Tokens& tokens) {
    const ScheduleLoops loops = loopsOf(row);
    for (std::size_t role = 0; role < loopRoles; ++role) {
        const LoopSplit& split = loops.splits[role];
        if (split.count < 2) continue;
        float* token = tokens.add("SP");
        if (!token) return;
        token[roleAt + role] = 1;
        double extent = 1;
        for (std::size_t i = 0; i < split.parts.size(); ++i) {
            token[numbersAt + 1 + i] = shortened(split.parts[i]);
            extent *= split.parts[i];
        }
        token[numbersAt] = shortened(extent);
    }
    for (const ScheduleKnob& knob : row.knobs) {
        if (knob.parts.size() != 1) continue;
        tokens.add(knob.name == "auto_unroll_max_step" ? "PR" : "knob", knob.parts);
    }
}

}  // namespace

std::size_t appendTokens(const TunedRow& row, std::vector<float>& rows) {
    Tokens tokens(rows);
    const TensorWork& w = row.work;
    const std::size_t first = rows.size();
    tokens.add("operator", std::array{w.batch, w.rows, w.columns, w.outputs, w.reduction(), w.kernelRows, w.stride,
                                      w.groups, w.elementBytes, row.cores});
    addTemplate(row.task, rows.data() + first + roleAt);
    if (row.steps.empty())
        addKnobs(row, tokens);
    else
        addPrimitives(row, tokens);
    return tokens.count();
}

}  // namespace orrery
