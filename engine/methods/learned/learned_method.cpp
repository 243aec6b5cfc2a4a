#include "methods/learned/learned_method.h"

#include "learning/fit_section.h"
#include "methods/learned/physics_ratio.h"
#include "methods/learned/plain_features.h"
#include "methods/tile/tile_pricer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace orrery {

namespace {

struct Binding {
    KernelKind kind;
    std::string variant;
    const CalibrationSection* section;
    double distance;               // as distanceAbroad() says
    std::optional<GpuView> there;  // the device that was learned, where this is another one
};

class LearnedPricer final : public KernelPricer {
public:
    LearnedPricer(std::string_view method, const GpuView& gpu, const CalibrationSet& calibrations)
        : gpu_(gpu), calibrations_(calibrations) {
        for (const auto& calibration : calibrations_.all()) {
            if (calibration->method != method) continue;
            for (const CalibrationSection& section : calibration->sections) {
                if (bindingOf(section.kind, section.variant)) continue;
                const auto found = calibrations_.find(method, section.kind, section.variant, gpu_);
                const auto names = plainFeatureNames(section.kind);
                // Features of another version of the method would be taken for each other.
                if (!found.section || !found.section->model || !std::ranges::equal(found.section->features, names))
                    continue;
                const double distance = distanceAbroad(calibrations_, method, *found.section, gpu_);
                bindings_.push_back({section.kind, section.variant, found.section, distance,
                                     distance > 0 ? learnedDevice(*found.section) : std::nullopt});
            }
        }
    }

    KernelPrice price(const Kernel& kernel) const override {
        KernelPrice price = unpricedKernel(kernel, gpu_);
        const Binding* binding = bindingOf(kernel.kind, kernelVariant(kernel));  // short: stays off the heap
        if (!binding) return price;
        take(learned(kernel, *binding), price);
        // Nothing is faster than the units at their peak, whatever was learned.
        const double peak = kernel.kind == KernelKind::Gemm ? gpu_.peak(true, kernel.type) : 0;
        const double held = peak > 0 ? std::max(1.0, kernel.flops / (price.seconds * peak)) : 1;
        price.seconds *= held, price.low *= held, price.high *= held;
        price.priced = true;
        return price;
    }

    KernelStory explain(const Kernel& kernel) const override {
        KernelStory story;
        const KernelPrice price = this->price(kernel);
        const Binding* binding = bindingOf(kernel.kind, kernelVariant(kernel));
        const auto add = [&](std::string_view name, double value, Dimension dimension, std::string_view meaning) {
            story.terms.push_back({std::string(name), value, dimension, {}, std::string(meaning)});
        };
        if (!binding) {
            add("roofline", price.seconds, Dimension::Time,
                "No calibration covers such kernels: peak rates and a launch.");
            return story;
        }
        double features[mostPlainFeatures];
        const auto names = plainFeatureNames(kernel.kind);
        plainFeatures(kernel, binding->there ? *binding->there : gpu_, std::span(features, names.size()));
        for (std::size_t i = 0; i < names.size(); ++i) {
            add(names[i], features[i], Dimension::Number, "A feature, as the model sees it.");
        }
        if (const auto ratio = binding->there ? physicsRatio(kernel, gpu_, *binding->there) : std::nullopt) {
            add("scale", *ratio, Dimension::Number,
                fmt::format("Nominal price of tiles and waves here ÷ that on {}.", binding->section->device->id));
        }
        add("learned latency", price.seconds, Dimension::Time,
            fmt::format("What the model of {} gives for these features.", sourcesOf(*binding)));
        add("5 % of measured", price.low, Dimension::Time, "From residuals of rows that the model had not seen.");
        add("95 % of measured", price.high, Dimension::Time, "From residuals of rows that the model had not seen.");
        return story;
    }

    double correlation(KernelKind kind) const override {
        for (const Binding& binding : bindings_) {
            if (binding.kind == kind) return correlationAbroad(*binding.section, binding.distance);
        }
        return 0;
    }

    std::vector<std::string> assumptions() const override {
        std::vector<std::string> sentences;
        for (const Binding& binding : bindings_) {
            if (binding.distance <= 0 && binding.section->device) continue;
            sentences.push_back(fmt::format(
                "{} ({}) is predicted by the calibration {}{}.", toText(binding.kind), binding.variant,
                binding.section->device ? "on " + binding.section->device->id : std::string("across devices"),
                binding.there ? ", times the ratio of what physics makes of the two devices" : ""));
        }
        return sentences;
    }

private:
    // On another device: the price on the learned one, moved by physics; where there is none, as if it were the same.
    SectionPrice learned(const Kernel& kernel, const Binding& binding) const {
        double features[mostPlainFeatures];
        const std::span row(features, binding.section->features.size());
        plainFeatures(kernel, binding.there ? *binding.there : gpu_, row);
        if (binding.distance <= 0 || !binding.section->device) {
            return priceWith(*binding.section, 1, row, 0, binding.distance);
        }
        SectionPrice price = priceWith(*binding.section, 1, row);
        const auto ratio = binding.there ? physicsRatio(kernel, gpu_, *binding.there) : std::nullopt;
        for (double* side : {&price.seconds, &price.low, &price.high}) *side *= ratio.value_or(1);
        goAbroad(price, *binding.section, binding.distance, ratio.has_value());
        return price;
    }
    const Binding* bindingOf(KernelKind kind, std::string_view variant) const {
        for (const Binding& binding : bindings_) {
            if (binding.kind == kind && binding.variant == variant) return &binding;
        }
        return nullptr;
    }
    static std::string sourcesOf(const Binding& binding) {
        std::int64_t rows = 0;
        std::string names;
        for (const CalibrationSource& source : binding.section->sources) {
            rows += source.rows;
            if (names.find(source.name) == names.npos) names += (names.empty() ? "" : ", ") + source.name;
        }
        return fmt::format("{} rows of {}", rows, names.empty() ? "unnamed sources" : names);
    }

    GpuView gpu_;
    CalibrationSet calibrations_;  // keeps the sections alive
    std::vector<Binding> bindings_;
};

// Rows of one section: which kernels of which device.
struct Group {
    KernelKind kind;
    std::string variant;
    std::vector<std::pair<std::size_t, std::size_t>> rows;
};

std::vector<Group> groupsOf(std::span<const KernelRows> rows, bool acrossDevices) {
    std::map<std::tuple<std::size_t, KernelKind, std::string>, Group> groups;
    for (std::size_t d = 0; d < rows.size(); ++d) {
        for (std::size_t i = 0; i < rows[d].kernels.size(); ++i) {
            const Kernel& kernel = rows[d].kernels[i];
            std::string variant = kernelVariant(kernel);
            Group& group = groups[{acrossDevices ? 0 : d, kernel.kind, variant}];
            group.kind = kernel.kind;
            group.variant = std::move(variant);
            group.rows.emplace_back(d, i);
        }
    }
    std::vector<Group> all;
    for (auto& [key, group] : groups) all.push_back(std::move(group));
    return all;
}

}  // namespace

Expected<KernelPricerPtr> bindLearned(std::string_view method, const GpuView& gpu, const CalibrationSet& calibrations) {
    return std::make_shared<const LearnedPricer>(method, gpu, calibrations);
}

Expected<Calibration> fitLearned(std::string_view method, std::string_view version, std::span<const KernelRows> rows,
                                 const FitOptions& options, const TrainingOptions& training) {
    Calibration calibration;
    calibration.method = method;
    calibration.methodVersion = version;
    for (const Group& group : groupsOf(rows, options.acrossDevices)) {
        if (options.stop.stop_requested() && !calibration.sections.empty()) break;
        if (options.stop.stop_requested()) {
            return fail("learning.cancelled", "stopped before the first section was fitted");
        }
        SectionRows data;
        for (const std::string_view name : plainFeatureNames(group.kind)) data.names.emplace_back(name);
        std::map<std::size_t, std::int64_t> devices;
        for (const auto& [d, i] : group.rows) {
            const std::size_t begin = data.features.size();
            data.features.resize(begin + data.names.size());
            plainFeatures(rows[d].kernels[i], rows[d].gpu, std::span(data.features).subspan(begin));
            data.baseline.push_back(1);
            data.measured.push_back(rows[d].seconds[i]);
            if (options.acrossDevices) data.group.push_back(std::int32_t(d));
            ++devices[d];
        }
        SectionOptions how;
        how.kind = group.kind;
        how.variant = group.variant;
        how.split = options.split;
        for (const auto& [d, count] : devices) {
            how.sources.push_back(rows[d].source);
            how.sources.back().rows = count;
        }
        if (!options.acrossDevices) {
            const auto& [d, i] = group.rows.front();
            how.device = fingerprint(rows[d].gpu, rows[d].kernels[i].type);
            how.device->id = rows[d].deviceId;
        }
        TrainingOptions& how1 = how.candidates.front();
        how1 = training;
        how1.seed = options.seed;
        // Few rows do not fill many leaves.
        how1.leaves = std::clamp(int(group.rows.size() / 40), 6, std::max(6, training.leaves));
        how1.stop = options.stop;
        if (options.onStep) {
            how1.onStep = [&, family = std::string(toText(group.kind))](const TrainingPoint& point) {
                options.onStep(point, family);
            };
        }
        auto fit = fitSection(data, how);
        if (!fit) return tl::unexpected(fit.error());
        calibration.sections.push_back(std::move(fit->section));
    }
    if (calibration.sections.empty()) return fail("learning.no-rows", "no rows to fit", "at least one measured kernel");
    return calibration;
}

}  // namespace orrery
