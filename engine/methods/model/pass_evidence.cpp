#include "methods/model/pass_evidence.h"

#include "learning/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

std::string_view toText(PassClass value) {
    return value == PassClass::Convolutions ? "convolutions" : "matrix products";
}

std::optional<PassClass> passClass(const LaunchList& launches) {
    // FLOP/B below which the weights of a product take longer than its arithmetic on every GPU that was measured.
    constexpr double ofWeights = 32;
    double all = 0, convolutions = 0, products = 0;
    for (const Launch& launch : launches.launches) {
        const Kernel& kernel = launch.kernel;
        if (kernel.kind == KernelKind::DecodeAttention || kernel.kind == KernelKind::Experts) return std::nullopt;
        const double flops = launch.count * launch.scale * kernel.flops;
        all += flops;
        const bool half = kernel.type == DType::F16 || kernel.type == DType::BF16;
        if (!half || kernel.weightType != kernel.type) continue;
        if (kernel.kind == KernelKind::Convolution) convolutions += flops;
        if (kernel.kind == KernelKind::PrefillAttention ||
            (kernel.kind == KernelKind::Gemm && kernel.flops >= ofWeights * kernel.bytes()))
            products += flops;
    }
    if (!(all > 0) || std::max(convolutions, products) <= all / 2) return std::nullopt;
    return convolutions > products ? PassClass::Convolutions : PassClass::Products;
}

const PassEvidence* passEvidence(std::string_view method, PassClass what) {
    constexpr auto convolutions = PassClass::Convolutions, products = PassClass::Products;
    static constexpr std::array<PassEvidence, 16> known{{
        {"tile-wave", convolutions, 0.219, 82, 4},
        {"tile-hybrid", convolutions, 0.235, 82, 4},
        {"wave-scaling", convolutions, 0.368, 82, 4},
        {"forest", convolutions, 0.302, 82, 4},
        {"booster", convolutions, 0.302, 82, 4},
        {"interval-analysis", convolutions, 0.207, 82, 4},
        {"mapping-search", convolutions, 0.142, 82, 4},
        {"gpu-interval", convolutions, 0.178, 82, 4},
        {"tile-wave", products, 0.404, 25, 4},
        {"tile-hybrid", products, 0.454, 25, 4},
        {"wave-scaling", products, 0.327, 25, 4},
        {"forest", products, 0.278, 25, 4},
        {"booster", products, 0.364, 25, 4},
        {"interval-analysis", products, 0.330, 25, 4},
        {"mapping-search", products, 0.236, 25, 4},
        {"gpu-interval", products, 0.304, 25, 4},
    }};
    const auto found = std::find_if(known.begin(), known.end(), [&](const PassEvidence& each) {
        return each.method == method && each.what == what;
    });
    return found == known.end() ? nullptr : &*found;
}

void weighPasses(Support& support, const Composition& c, std::string_view method, const CalibrationSet& calibrations) {
    if (!c.gpu) return;
    const auto what = passClass(c.list());
    const PassEvidence* evidence = what ? passEvidence(method, *what) : nullptr;
    if (!evidence) return;
    // What the method's sections are worth here, by time of the kernels that make the class.
    double busy = 0, own = 0;
    std::vector<std::pair<std::pair<KernelKind, std::string>, double>> worth;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        const Kernel& kernel = launch.kernel;
        if (kernel.kind != KernelKind::Convolution && kernel.kind != KernelKind::Gemm &&
            kernel.kind != KernelKind::PrefillAttention)
            continue;
        const double seconds = c.prices[i].seconds * launch.count;
        busy += seconds;
        if (!c.prices[i].price.priced || !c.prices[i].known) continue;
        const std::pair<KernelKind, std::string> family{kernel.kind, variantName(kernel).view()};
        auto at = std::find_if(worth.begin(), worth.end(), [&](const auto& each) { return each.first == family; });
        if (at == worth.end()) {
            const auto found = calibrations.find(method, kernel.kind, family.second, *c.gpu);
            const double faith = found.section ? faithAt(foreignDistance(*found.section, *c.gpu)) : 0;
            at = worth.insert(worth.end(), {family, faith});
        }
        own += seconds * at->second;
    }
    const double rest = busy > 0 ? 1 - own / busy : 1;
    support.error = (1 - rest) * support.error + rest * evidence->error;
    support.edge = std::max(support.edge, rest);
    if (rest <= 0.5) return;
    support.what = fmt::format("{:.0f} % on {} whole passes of {} in 16 bits on {} GPUs that nothing was fitted to",
                               100 * std::expm1(evidence->error), evidence->passes, toText(*what), evidence->devices);
}

}  // namespace orrery
