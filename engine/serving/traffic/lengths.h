#pragma once

// Numbers of tokens, drawn by LengthSpec; of a trace: rows of it.

#include "base/random.h"
#include "serving/traffic/traffic.h"

#include <vector>

namespace orrery {

class TokenCounts {
public:
    explicit TokenCounts(const LengthSpec& spec);
    /// Not of kind Trace.
    std::int32_t draw(RandomStream& random) const;

private:
    LengthSpec spec_;
    std::vector<double> cumulative_;  ///< Zipf: of the weights
};

struct Lengths {
    std::int32_t prompt = 1, output = 1;
};
/// Prompt and output of one request or turn after the other.
class LengthSource {
public:
    /// `trace` may be null if neither length is of kind Trace. `inOrder`: its rows from the first on, else at random.
    LengthSource(const TrafficSpec& spec, const RequestStream* trace, bool inOrder, RandomStream random);
    Lengths next();

private:
    const TrafficSpec& spec_;
    const RequestStream* trace_;
    bool inOrder_;
    std::size_t row_ = 0;
    TokenCounts prompt_, output_;
    RandomStream prompts_, outputs_, rows_;
};

}  // namespace orrery
