#pragma once

// Search spaces as workloads: a network named by the code that its benchmark gives it, e.g.
// `nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|avg_pool_3x3~2|`, becomes an ordinary graph.

#include "workload/importers.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A cell of NAS-Bench-201 (Dong and Yang, ICLR 2020): six edges between four nodes, (0→1), (0→2), (1→2), (0→3),
/// (1→3), (2→3); a node is the sum of what comes in.
struct NasBench201Cell {
    enum Op : std::uint8_t { None, Skip, Conv1, Conv3, Pool };
    static constexpr std::array<int, 6> from{0, 0, 1, 0, 1, 2}, to{1, 2, 2, 3, 3, 3};
    std::array<Op, 6> edges{};
};
/// `|op~0|+|op~0|op~1|+|op~0|op~1|op~2|`.
Expected<NasBench201Cell> readNasBench201(std::string_view code);
/// Which edges lie on a way from the cell's input to its output: what a runtime that drops dead code executes.
std::array<bool, 6> liveEdges(const NasBench201Cell& cell);

/// FBNet (Wu et al., CVPR 2019): one of nine blocks for each of 22 places. Ids 0 k3 e1, 1 k3 e1 g2, 2 k3 e3, 3 k3 e6,
/// 4 to 7 the same with k5, 8 skip.
struct FbnetBlocks {
    static constexpr std::size_t places = 22, choices = 9;
    std::array<std::uint8_t, places> ids{};
};
Expected<FbnetBlocks> readFbnet(std::string_view code);  ///< 22 numbers between blanks

/// Once-for-all (Cai et al., ICLR 2020), MobileNetV3 of width 1.2: `r=204|d=2 2 3 3 4|ks=…20…|e=…20…`. Of the four
/// layers of a stage the first `depth` are used.
struct OfaNetwork {
    std::int64_t resolution = 224;
    std::array<std::uint8_t, 5> depth{};
    std::array<std::uint8_t, 20> kernel{}, expand{};
};
Expected<OfaNetwork> readOfa(std::string_view code);

/// Hardware-aware transformers (Wang et al., ACL 2020). Widths and heads are means over the layers, as its tables of
/// latency state them: `encoder|embed=640|layers=6|ffn=1962.67|heads=6`, and
/// `decoder|embed=512|layers=4|ffn=1920|heads=2.5|cross=5.5|attends=1.5|memory=640`.
struct HatNetwork {
    bool decoder = false;
    double embed = 512, layers = 6, ffn = 2048, heads = 8, cross = 8;
    double attends = 1;   ///< encoder layers that a layer of the decoder attends to
    double memory = 512;  ///< width of the encoder
};
Expected<HatNetwork> readHat(std::string_view code);

struct NetworkSpace {
    std::string_view id, name, description, example, source;
    Expected<ImportedGraph> (*build)(std::string_view code, std::string_view input, const WorkloadOptions& options);
};
const std::vector<NetworkSpace>& searchSpaces();
/// The space before the colon of a source, or null.
const NetworkSpace* searchSpaceOf(std::string_view source);
/// `space:code`, or `space@3x32x32:code` for another input than the usual one (channels × height × width).
Expected<ImportedGraph> buildFromSpace(std::string_view source, const WorkloadOptions& options);

}  // namespace orrery
