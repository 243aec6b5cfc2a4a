#include "methods/tile/wave_scaling.h"

#include "learning/fit_section.h"
#include "methods/answer/direct_convolution.h"
#include "methods/tile/hybrid_family.h"
#include "methods/tile/tile_hybrid_fit.h"
#include "methods/tile/tile_pricer.h"
#include "methods/tile/tile_wave_convolution.h"
#include "methods/tile/wave_scaling_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace orrery {

namespace {

constexpr std::string_view id = "wave-scaling", version = "1";

bool kernelAlike(KernelKind kind) {
    return kind == KernelKind::Elementwise || kind == KernelKind::Softmax || kind == KernelKind::Normalization ||
           kind == KernelKind::Movement;
}

struct Scaled {
    TilePhysics origin, destination;
    double originSeconds = 0, gamma = 0, factor = 1;
    SectionPrice price;
};

class WaveScalingPricer final : public KernelPricer {
public:
    WaveScalingPricer(GpuView gpu, TileBindings bindings, std::vector<GpuView> origins)
        : gpu_(std::move(gpu)), bindings_(std::move(bindings)), origins_(std::move(origins)) {}

    KernelPrice price(const Kernel& kernel) const override {
        return fasterConvolution(kernel, gpu_, [&](const Kernel& each) { return scaled(each); });
    }

    std::vector<KernelNote> notes() const override { return directConvolutionNotes(); }

    KernelStory explain(const Kernel& kernel) const override {
        const auto alone = [&](const Kernel& each) { return scaled(each); };
        const auto direct = directConvolution(kernel, gpu_, alone);
        if (direct && direct->seconds < alone(kernel).seconds) return explain(*convolutionAsStream(kernel));
        if (const auto product = convolutionAsProduct(kernel)) return explain(*product);
        const TileBinding* binding = bindings_.find(kernel);
        if (!binding || !binding->section) return {};
        const Scaled scaled = scale(kernel, *binding);
        KernelStory story;
        story.blocks = scaled.destination.blocks, story.blocksPerWave = scaled.destination.blocksPerWave;
        story.waves = scaled.destination.waves;
        const std::string name = binding->section->device ? binding->section->device->id : std::string("origin");
        story.terms.push_back({fmt::format("time on {}", name),
                               scaled.originSeconds,
                               Dimension::Time,
                               {},
                               "as measured there: physics times the correction learned from its rows"});
        story.terms.push_back({"launch", scaled.origin.launch, Dimension::Time, {}, "of it; the host's, not scaled"});
        if (kernelAlike(kernel.kind)) {
            story.terms.push_back({"memory-boundedness",
                                   scaled.gamma,
                                   Dimension::Fraction,
                                   {},
                                   "from intensity and the destination's ridge point"});
        }
        story.terms.push_back({"scale",
                               scaled.factor,
                               Dimension::Number,
                               {},
                               kernelAlike(kernel.kind) ? "by bandwidth, clock and multiprocessors"
                                                        : "ratio of the physical prices on the two devices"});
        return story;
    }

    double correlation(KernelKind kind) const override { return correlationOf(bindings_, kind); }

    std::vector<std::string> assumptions() const override {
        std::vector<std::string> sentences;
        for (const TileBinding& binding : bindings_.fitted) {
            if (!binding.section->device) continue;
            sentences.push_back(fmt::format("{} ({}) are scaled from measurements of {}.", binding.family->name,
                                            binding.variant, binding.section->device->id));
        }
        return sentences;
    }

private:
    KernelPrice scaled(const Kernel& kernel) const {
        if (const auto product = convolutionAsProduct(kernel)) {
            KernelPrice price = scaled(*product);
            doubtStandIn(price);
            return price;
        }
        const TileBinding* binding = bindings_.find(kernel);
        if (!binding || !binding->section) return unpricedKernel(kernel, gpu_);
        const Scaled found = scale(kernel, *binding);
        KernelPrice price;
        take(found.price, price);
        price.bound = found.destination.bound;
        return price;
    }
    Scaled scale(const Kernel& kernel, const TileBinding& binding) const {
        const GpuView& origin = origins_[static_cast<std::size_t>(&binding - bindings_.fitted.data())];
        Scaled out;
        out.origin = binding.family->physics(kernel, origin, binding.parameters);
        out.destination = binding.family->physics(kernel, gpu_, binding.parameters);
        std::array<double, mostHybridFeatures> row;
        std::size_t count = 0;
        if (const HybridFamily* hybrid = hybridFamilyOf(*binding.family)) {
            hybrid->features(kernel, origin, out.origin, std::span(row.data(), hybrid->featureNames.size()));
            count = std::min(binding.section->features.size(), hybrid->featureNames.size());
        }
        const SectionPrice there = priceWith(*binding.section, out.origin.seconds, std::span(row.data(), count));
        out.originSeconds = there.seconds;
        if (kernelAlike(kernel.kind)) {
            const double peak = std::max(gpu_.vectorPeak(kernel.type), 1.0);
            out.gamma = memoryBoundedness(kernel.flops, kernel.bytes() > 0 ? kernel.bytes() : out.origin.l2Bytes,
                                          peak / gpu_.dramBandwidth);
            out.factor = waveScale({origin.sms, origin.clock, origin.dramBandwidth, out.origin.blocksPerWave},
                                   {gpu_.sms, gpu_.clock, gpu_.dramBandwidth, out.destination.blocksPerWave},
                                   out.origin.blocks, out.gamma);
        } else {
            const double before = out.origin.seconds - out.origin.launch;
            out.factor = before > 0 ? (out.destination.seconds - out.destination.launch) / before : 1;
        }
        const auto moved = [&](double seconds) {
            const double launch = std::min(out.origin.launch, seconds);
            return launch + out.factor * (seconds - launch);
        };
        out.price = there;
        out.price.seconds = moved(there.seconds), out.price.low = moved(there.low), out.price.high = moved(there.high);
        if (binding.distance <= 0) return out;
        goAbroad(out.price, *binding.section, binding.distance);
        const auto& parameters = binding.section->parameters;
        const auto low = parameters.find("transfer low"), high = parameters.find("transfer high");
        if (low != parameters.end() && high != parameters.end()) {  // as measured on other devices
            out.price.low = out.price.seconds * low->second, out.price.high = out.price.seconds * high->second;
        }
        return out;
    }

    GpuView gpu_;
    TileBindings bindings_;
    std::vector<GpuView> origins_;  ///< of bindings_.fitted, in its order
};

Expected<KernelPricerPtr> bindWaveScaling(const GpuView& gpu, const CalibrationSet& calibrations) {
    TileBindings bindings = bindTiles(id, gpu, calibrations);
    std::vector<GpuView> origins;
    for (const TileBinding& binding : bindings.fitted) {
        auto origin = originOf(*binding.section);
        if (!origin) return Unexpected(std::move(origin.error()));
        origins.push_back(std::move(*origin));
    }
    return std::make_shared<const WaveScalingPricer>(gpu, std::move(bindings), std::move(origins));
}

// Measured ÷ predicted on the other devices of the fit: what scaling to an unseen one may be off by.
void measureTransfers(Calibration& calibration, std::span<const KernelRows> rows) {
    for (CalibrationSection& section : calibration.sections) {
        auto single = std::make_shared<Calibration>();
        single->method = id;
        single->sections.push_back(section);
        CalibrationSet set;
        set.add(single);
        std::vector<double> ratios;
        for (const KernelRows& other : rows) {
            if (!section.device || other.deviceId == section.device->id) continue;
            const auto pricer = bindWaveScaling(other.gpu, set);
            if (!pricer) continue;
            const std::size_t stride = std::max<std::size_t>(1, other.kernels.size() / 2000);
            for (std::size_t i = 0; i < other.kernels.size(); i += stride) {
                const Kernel& kernel = other.kernels[i];
                if (kernel.kind != section.kind || kernelVariant(kernel) != section.variant) continue;
                ratios.push_back(other.seconds[i] / (*pricer)->price(kernel).seconds);
            }
        }
        if (ratios.size() < 20) continue;
        std::sort(ratios.begin(), ratios.end());
        const auto at = [&](double share) { return ratios[static_cast<std::size_t>(share * (ratios.size() - 1.0))]; };
        section.parameters["transfer low"] = std::min(1.0, at(0.05));
        section.parameters["transfer high"] = std::max(1.0, at(0.95));
    }
}

Expected<Calibration> fitWaveScaling(std::span<const KernelRows> rows, const FitOptions& options) {
    FitOptions each = options;
    each.acrossDevices = false;  // an origin is one device
    auto calibration = fitTileHybrid(rows, each);
    if (!calibration) return calibration;
    calibration->method = id;
    calibration->methodVersion = version;
    for (CalibrationSection& section : calibration->sections) {
        for (const KernelRows& one : rows) {
            if (section.device && one.deviceId == section.device->id) keepOrigin(section, one.gpu);
        }
    }
    measureTransfers(*calibration, rows);
    return calibration;
}

}  // namespace

double memoryBoundedness(double flops, double bytes, double ridge) {
    if (!(bytes > 0)) return 0;
    if (!(flops > 0) || !(ridge > 0)) return 1;
    const double intensity = flops / bytes;
    return intensity <= ridge ? 1 - 0.5 * intensity / ridge : 0.5 * ridge / intensity;
}

double waveScale(const WaveDevice& origin, const WaveDevice& destination, double blocks, double gamma) {
    const double clocks = origin.clock / destination.clock;
    if (blocks < origin.waveBlocks && blocks < destination.waveBlocks) {
        const double rounds = std::ceil(blocks / destination.sms) / std::ceil(blocks / origin.sms);
        return std::pow(clocks * rounds, 1 - gamma);
    }
    return std::pow(origin.bandwidth / destination.bandwidth, gamma) *
           std::pow(clocks * origin.sms / destination.sms, 1 - gamma);
}

namespace {

// Findings are those of `orrery-cli evaluate` and of tests/methods/tst_model_end_to_end.cpp.
MethodCard waveScalingCard() {
    return {
        .title = "Wave scaling",
        .methodology = Methodology::Hybrid,
        .summary =
            "What was measured on one GPU, scaled to another by waves, clocks and bandwidths. For moving between "
            "devices of one maker.",
        .evidence = {{"vector operators", "GPU",
                      "13 % mean over the 42 pairs of NeuSight's seven NVIDIA GPUs, 3 to 8 % between like ones"},
                     {"matrix products", "GPU",
                      "fp32: linear layers 32 % mean over the pairs (7 to 19 % between V100, A100 and L4), batched "
                      "products 21 %"},
                     {"whole models", "GPU",
                      "reported by its authors: 11.8 % on training steps between 6 GPUs (Habitat, 2021)"}},
        .failureMode =
            "Needs measurements of a GPU that runs the same kernels; breaks between generations whose libraries "
            "differ.",
        .lineage = {"Yu et al.: Habitat, USENIX ATC 2021"},
        .cost = {.fixed = 2.8e-5, .perOperator = 4.8e-8, .perKernel = 8.5e-7},
        .live = true,
    };
}

}  // namespace

KernelMethod waveScalingKernels() {
    return {.id = id, .version = version, .binder = bindWaveScaling, .fit = fitWaveScaling, .card = waveScalingCard()};
}

}  // namespace orrery
