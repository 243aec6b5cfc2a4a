#include "learning/surrogate.h"

#include "learning/matern_process.h"

#include <algorithm>
#include <cmath>

namespace orrery {

std::vector<std::string> surrogateFeatureNames(std::span<const SurrogateInput> inputs) {
    std::vector<std::string> names;
    for (const SurrogateInput& input : inputs) {
        if (!input.words) {
            if (input.high > input.low) names.push_back(input.name);
        } else if (input.values.size() > 1) {
            for (const std::string& word : input.values) names.push_back(input.name + "=" + word);
        }
    }
    return names;
}

void appendSurrogateFeatures(std::span<const SurrogateInput> inputs, std::span<const double> row,
                             std::vector<double>& features) {
    for (std::size_t c = 0; c < inputs.size(); ++c) {
        const SurrogateInput& input = inputs[c];
        if (!input.words) {
            if (!(input.high > input.low)) continue;
            features.push_back(input.logarithmic ? std::log(std::max(row[c], 1e-3 * input.low) / input.low) /
                                                       std::log(input.high / input.low)
                                                 : (row[c] - input.low) / (input.high - input.low));
        } else if (input.values.size() > 1) {
            for (std::size_t word = 0; word < input.values.size(); ++word)
                features.push_back(row[c] == static_cast<double>(word) ? 1 : 0);
        }
    }
}

double placeOfWord(const SurrogateInput& input, std::string_view word) {
    const auto found = std::find(input.values.begin(), input.values.end(), word);
    return found == input.values.end() ? -1 : static_cast<double>(found - input.values.begin());
}

std::string reachName(std::string_view target, bool above) {
    return std::string(target) + (above ? " (reach above)" : " (reach below)");
}

bool isReach(std::string_view target) {
    return target.ends_with(" (reach above)") || target.ends_with(" (reach below)");
}

double surrogateWidening(const Surrogate& surrogate, std::span<const double> row) {
    double widening = 1;
    for (std::size_t c = 0; c < surrogate.inputs.size(); ++c) {
        const SurrogateInput& input = surrogate.inputs[c];
        if (input.words) {
            widening += row[c] < 0 ? 1 : 0;
            continue;
        }
        // What never changed may mean anything elsewhere: a tenth of its size counts as a range.
        const double range =
            input.high > input.low ? input.high - input.low : std::max(0.1 * std::abs(input.low), 1e-12);
        const double beyond = std::max({input.low - row[c], row[c] - input.high, 0.0});
        if (beyond > 1e-9 * range) widening += 4 * std::min(beyond / range, 1e6);
    }
    return widening;
}

SurrogateAnswer answerOf(const Surrogate& surrogate, const SurrogateTarget& target, std::span<const double> row) {
    std::vector<double> features;
    appendSurrogateFeatures(surrogate.inputs, row, features);
    double mean = 0, deviation = 1;
    for (const RegressorPtr& model : target.models) {
        const auto* process = dynamic_cast<const MaternProcess*>(model.get());
        if (process && target.byDeviation) {
            const Normal expected = process->at(features);
            mean += expected.mean;
            deviation = std::hypot(expected.deviation, process->noise());
        } else {
            mean += model->predict(features);
        }
    }
    mean /= static_cast<double>(target.models.size());
    const double half = target.reach * deviation * surrogateWidening(surrogate, row);
    const auto value = [&](double learned) {
        return target.offset + (target.logarithmic ? std::exp(std::clamp(learned, -700.0, 700.0)) : learned);
    };
    return {value(mean), value(mean - half), value(mean + half)};
}

}  // namespace orrery
