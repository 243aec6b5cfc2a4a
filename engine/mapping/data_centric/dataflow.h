#pragma once

// A dataflow in data-centric directives (Kwon et al., MICRO 2019, section 3): what part of every dimension a cluster of
// processing elements holds at once and by how much it moves on, outer to inner, one group of directives per cluster
// level.

#include "base/diagnostic.h"
#include "mapping/data_centric/layer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// A size that may depend on the layer: whole numbers, Sz(R), + - * / and brackets, in postfix order.
struct SizeExpression {
    enum class Op : std::uint8_t { Number, Size, Add, Subtract, Multiply, Divide };
    struct Term {
        Op op = Op::Number;
        std::int64_t number = 0;
        FlowDim dim = FlowDim::K;
        bool output = false;  ///< Sz(Y') or Sz(X')
        bool operator==(const Term&) const = default;
    };
    std::vector<Term> terms;
    bool operator==(const SizeExpression&) const = default;
};

/// Fails on a division by zero, on results outside [1, 2^31) and on a dimension that the layer has not.
Expected<std::int64_t> evaluate(const SizeExpression& expression, const FlowLayer& layer, const Place& place = {});
SizeExpression constantSize(std::int64_t number);

struct Directive {
    enum class Kind : std::uint8_t { Temporal, Spatial, Cluster };
    Kind kind = Kind::Temporal;
    FlowDim dim = FlowDim::K;
    bool output = false;  ///< Y' or X': size and offset count outputs
    SizeExpression size, offset;
    bool physical = true;  ///< of a cluster: `P`, or logical `L`; costs are the same
    int line = 0;
    bool operator==(const Directive&) const = default;
};

struct DirectiveDataflow {
    std::string name;
    std::string file;  ///< for diagnostics; empty if made in memory
    std::vector<Directive> directives;
    bool operator==(const DirectiveDataflow&) const = default;
};

/// A directive with its numbers for one layer; a cluster has only a size.
struct BoundDirective {
    Directive::Kind kind = Directive::Kind::Temporal;
    FlowDim dim = FlowDim::K;
    bool output = false;
    std::int64_t size = 1, offset = 1;
    int line = 0;
    bool operator==(const BoundDirective&) const = default;
};

Expected<std::vector<BoundDirective>> bind(const DirectiveDataflow& dataflow, const FlowLayer& layer);
/// In the notation of MAESTRO, one directive per line.
std::string toText(const DirectiveDataflow& dataflow);

}  // namespace orrery
