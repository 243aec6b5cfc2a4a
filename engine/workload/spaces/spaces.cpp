#include "workload/spaces/spaces.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "workload/spaces/space_graphs.h"

#include <fmt/format.h>

namespace orrery {
namespace {

Expected<SpaceInput> inputOf(std::string_view text, const SpaceInput& usual, const WorkloadOptions& options) {
    SpaceInput input = usual;
    if (options.image > 0) input.height = input.width = options.image;
    if (!text.empty()) {
        const auto parts = split(text, 'x');
        const auto channels = parts.size() == 3 ? wholeIn(parts[0]) : std::nullopt;
        const auto height = parts.size() == 3 ? wholeIn(parts[1]) : std::nullopt;
        const auto width = parts.size() == 3 ? wholeIn(parts[2]) : std::nullopt;
        if (!channels || !height || !width || *channels < 1 || *height < 1 || *width < 1) {
            return fail("workload.space-input", fmt::format("the input “{}” is no shape", text.substr(0, 40)),
                        "channels, height and width, such as 3x32x32", {}, Place{.path = "source"});
        }
        input = {*channels, *height, *width};
    }
    if (input.channels > 4096 || input.height < 4 || input.height > 8192 || input.width < 4 || input.width > 8192) {
        return fail("workload.space-input",
                    fmt::format("an input of {}x{}x{}", input.channels, input.height, input.width),
                    "1 to 4,096 channels and sides of 4 to 8,192", {}, Place{.path = "source"});
    }
    return input;
}

Expected<ImportedGraph> named(std::string name, Graph graph) {
    ImportedGraph made;
    made.name = std::move(name);
    made.graph = std::move(graph);
    return made;
}

Expected<ImportedGraph> buildNasBench201(std::string_view code, std::string_view input,
                                         const WorkloadOptions& options) {
    const auto cell = readNasBench201(code);
    if (!cell) return Unexpected(cell.error());
    const auto shape = inputOf(input, {3, 32, 32}, options);
    if (!shape) return Unexpected(shape.error());
    return named("NAS-Bench-201", nasBench201Graph(*cell, *shape, 10, options));
}

Expected<ImportedGraph> buildFbnet(std::string_view code, std::string_view input, const WorkloadOptions& options) {
    const auto blocks = readFbnet(code);
    if (!blocks) return Unexpected(blocks.error());
    const auto shape = inputOf(input, {3, 32, 32}, options);
    if (!shape) return Unexpected(shape.error());
    return named("FBNet", fbnetGraph(*blocks, *shape, options));
}

Expected<ImportedGraph> buildOfa(std::string_view code, std::string_view input, const WorkloadOptions& options) {
    const auto network = readOfa(code);
    if (!network) return Unexpected(network.error());
    if (!input.empty()) {
        return fail("workload.space-input", "an OFA network says its own resolution", "r=… in the code", {},
                    Place{.path = "source"});
    }
    const auto side = inputOf({}, {3, network->resolution, network->resolution}, options);
    if (!side) return Unexpected(side.error());
    return named("OFA MobileNetV3", ofaGraph(*network, options));
}

Expected<ImportedGraph> buildHat(std::string_view code, std::string_view input, const WorkloadOptions& options) {
    const auto network = readHat(code);
    if (!network) return Unexpected(network.error());
    if (!input.empty()) {
        return fail("workload.space-input", "a HAT network reads 30 tokens", "no input before the colon", {},
                    Place{.path = "source"});
    }
    return named(network->decoder ? "HAT decoder" : "HAT encoder", hatGraph(*network, options));
}

}  // namespace

const std::vector<NetworkSpace>& searchSpaces() {
    static const std::vector<NetworkSpace> all{
        {"nasbench201", "NAS-Bench-201", "a cell of six edges, fifteen times in a residual network; 32×32 pictures",
         "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|none~1|nor_conv_1x1~2|",
         "Dong and Yang, ICLR 2020", buildNasBench201},
        {"fbnet", "FBNet", "one of nine blocks at each of 22 places; 32×32 pictures",
         "fbnet:7 8 1 8 4 8 8 8 7 4 1 4 7 3 2 7 3 2 4 2 4 5", "Wu et al., CVPR 2019", buildFbnet},
        {"ofa", "Once-for-all MobileNetV3", "depths, kernels and expansions of five stages, width 1.2",
         "ofa:r=176|d=2 2 2 2 2|ks=3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3|e=3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3",
         "Cai et al., ICLR 2020", buildOfa},
        {"hat", "Hardware-aware transformers", "an encoder of 30 tokens, or 30 steps of a decoder",
         "hat:decoder|embed=512|layers=4|ffn=1920|heads=4|cross=4|attends=1.5|memory=640", "Wang et al., ACL 2020",
         buildHat},
    };
    return all;
}

const NetworkSpace* searchSpaceOf(std::string_view source) {
    const std::string_view head = source.substr(0, source.find_first_of(":@"));
    if (head.size() == source.size()) return nullptr;
    for (const NetworkSpace& space : searchSpaces()) {
        if (space.id == head) return &space;
    }
    return nullptr;
}

Expected<ImportedGraph> buildFromSpace(std::string_view source, const WorkloadOptions& options) {
    const NetworkSpace* space = searchSpaceOf(source);
    const auto colon = source.find(':');
    if (!space || colon == std::string_view::npos) {
        return fail("workload.space-code", fmt::format("“{}” names no network of a search space", source.substr(0, 80)),
                    "space:code, such as fbnet:7 8 1 …", "orrery-cli workloads lists the spaces",
                    Place{.path = "source"});
    }
    if (options.phase == Phase::Prefill || options.phase == Phase::Decode) {
        return fail("workload.phase", fmt::format("{} has no {} phase", space->name, toText(options.phase)),
                    "forward or training-forward", "set the phase to forward", Place{.path = "options/phase"});
    }
    const std::string_view head = source.substr(0, colon);
    const auto at = head.find('@');
    return space->build(source.substr(colon + 1), at == std::string_view::npos ? "" : head.substr(at + 1), options);
}

}  // namespace orrery
