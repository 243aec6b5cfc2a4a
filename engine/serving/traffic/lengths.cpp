#include "serving/traffic/lengths.h"

#include <algorithm>
#include <cmath>

namespace orrery {

TokenCounts::TokenCounts(const LengthSpec& spec) : spec_(spec) {
    if (spec_.kind != LengthKind::Zipf) return;
    double sum = 0;
    cumulative_.reserve(static_cast<std::size_t>(spec_.most - spec_.least + 1));
    for (std::int32_t k = 1; k <= spec_.most - spec_.least + 1; ++k) {
        cumulative_.push_back(sum += std::pow(static_cast<double>(k), -spec_.theta));
    }
}

std::int32_t TokenCounts::draw(RandomStream& random) const {
    const auto clipped = [&](double tokens) {
        return static_cast<std::int32_t>(
            std::clamp(std::round(tokens), static_cast<double>(spec_.least), static_cast<double>(spec_.most)));
    };
    switch (spec_.kind) {
        case LengthKind::Fixed:
            return std::max(static_cast<std::int32_t>(std::lround(spec_.mean)), 1);
        case LengthKind::Uniform:
            return spec_.least +
                   static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(spec_.most - spec_.least) + 1));
        case LengthKind::Zipf: {
            const auto found =
                std::upper_bound(cumulative_.begin(), cumulative_.end(), random.uniform() * cumulative_.back());
            return spec_.least +
                   static_cast<std::int32_t>(std::min(found - cumulative_.begin(), std::ssize(cumulative_) - 1));
        }
        case LengthKind::LogNormal: {
            const double variance = std::log1p(spec_.cv * spec_.cv);
            return clipped(spec_.mean * std::exp(std::sqrt(variance) * random.normal() - variance / 2));
        }
        case LengthKind::Trace:
            break;
    }
    return 1;
}

LengthSource::LengthSource(const TrafficSpec& spec, const RequestStream* trace, bool inOrder, RandomStream random)
    : spec_(spec),
      trace_(trace),
      inOrder_(inOrder),
      prompt_(spec.prompt),
      output_(spec.output),
      prompts_(random.split(1)),
      outputs_(random.split(2)),
      rows_(random.split(3)) {}

Lengths LengthSource::next() {
    // One row for both lengths, so that they stay as correlated as they were.
    std::size_t row = 0;
    if (trace_ && trace_->size() > 0) {
        row = inOrder_ ? row_++ % trace_->size() : static_cast<std::size_t>(rows_.below(trace_->size()));
    }
    Lengths lengths;
    lengths.prompt = spec_.prompt.kind == LengthKind::Trace ? trace_->prompt[row] : prompt_.draw(prompts_);
    if (spec_.ratio > 0) {
        // VIDUR's split: outputs rounded up, the rest is prompt; neither may be nothing.
        const std::int32_t total = std::max(lengths.prompt, 2);
        lengths.output = std::clamp(static_cast<std::int32_t>(std::ceil(total / (1 + spec_.ratio))), 1, total - 1);
        lengths.prompt = total - lengths.output;
        return lengths;
    }
    lengths.output = spec_.output.kind == LengthKind::Trace ? trace_->output[row] : output_.draw(outputs_);
    return lengths;
}

}  // namespace orrery
