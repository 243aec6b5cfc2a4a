#include "learning/matern_process.h"

#include "learning/trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace orrery {

std::string MaternProcess::toJson() const {
    std::vector<int> words;
    for (const bool word : rows_.words) words.push_back(word ? 1 : 0);
    return fmt::format(R"({{"words":[{}],"lengths":[{}],"amplitude":{},"noise":{},"inputs":[{}],"target":[{}]}})",
                       fmt::join(words, ","), fmt::join(shape_.lengths, ","), shape_.amplitude, shape_.noise,
                       fmt::join(rows_.inputs, ","), fmt::join(rows_.target, ","));
}

RegressorPtr readMaternProcess(JsonCursor& json) {
    ProcessRows rows;
    ProcessShape shape{{}, 0, 0};
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "words") {
            for (const double word : json.numbers(largestInputs)) rows.words.push_back(word != 0);
        } else if (key == "lengths") {
            shape.lengths = json.numbers(largestInputs);
        } else if (key == "amplitude") {
            shape.amplitude = json.number();
        } else if (key == "noise") {
            shape.noise = json.number();
        } else if (key == "inputs") {
            rows.inputs = json.numbers(mostMaternRows * largestInputs);
        } else if (key == "target") {
            rows.target = json.numbers(mostMaternRows);
        } else {
            json.skip();
        }
    }
    if (!json.ok()) return nullptr;
    const bool lengths = std::all_of(shape.lengths.begin(), shape.lengths.end(),
                                     [](double length) { return length > 1e-9 && length < 1e12; });
    if (!lengths || !(shape.amplitude > 0 && shape.amplitude < 1e9) || !(shape.noise > 0 && shape.noise < 1e9)) {
        json.fail("model", "a length, the amplitude or the noise is out of range", "numbers above 0");
        return nullptr;
    }
    auto process = MaternProcess::conditioned(rows, shape);
    if (!process) {
        json.fail("model", process.error().message, process.error().expected);
        return nullptr;
    }
    return std::make_shared<MaternProcess>(std::move(*process));
}

}  // namespace orrery
