#pragma once

// Networks as graphs for the graph network (graph_features.h): rows of numbers per node, edges along the data, and per
// node the amounts that a time may follow. Cells of NAS-Bench-201 can be read from their codes alone (a node is a
// word); every workload can be read operator by operator.

#include "base/diagnostic.h"
#include "workload/workload.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

/// How a network is read: by the words of its code, or operator by operator of its workload.
enum class GraphForm : std::uint8_t { Words, Operators };

struct NetworkGraph {
    std::vector<float> nodes;                                    ///< rows × columns of its form
    std::vector<float> amounts;                                  ///< rows × `amounts` of its form
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  ///< from, to: data flows
    std::size_t rows = 0;
};

/// What stands in a row.
struct GraphShape {
    std::size_t columns = 0, amounts = 0;
    std::size_t words = 0;  ///< so many columns in front are 0 or 1; those behind are logarithms
};

/// Of an operator: its kind (costs.h), whether it computes in eight bits; logarithms of 1 + what is joined to it, its
/// operations, values in, values out, weights, output channels, what one output value sums over, groups, positions,
/// repetitions. Values and not bytes, for a device's runtime chooses the type and not the file. Amounts: executions,
/// operations, values moved, weights read, over all repetitions. As in nn-Meter's kernels (Zhang et al., MobiSys 2021),
/// a batch normalisation is folded into the operator before it, and an element-wise operator of one input joined to it,
/// where nothing else reads what is between. What only renames, or is constant when a model is loaded, has no node:
/// edges pass through. Linear.
NetworkGraph operatorGraph(const Workload& workload);

/// Of a space's code; words of nasbench201 alone, operators of every space. A cell's graph `folded` has its constants
/// folded and what leads nowhere dropped. Fails with `edge.no-graph`, and as the space's reader does.
Expected<NetworkGraph> graphOfCode(std::string_view space, std::string_view input, std::string_view code,
                                   GraphForm form, bool folded);

/// Columns 0: the space has no such form.
GraphShape graphShape(std::string_view space, GraphForm form);
/// 2 where a space has dead code: as it is written, and folded.
std::size_t graphsOfEach(std::string_view space);

}  // namespace orrery
