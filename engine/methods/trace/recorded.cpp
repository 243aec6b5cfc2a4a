#include "methods/trace/recorded.h"

#include "base/kept_files.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "methods/model/compose.h"
#include "methods/model/kernel_bound.h"
#include "methods/trace/recorded_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace orrery {

namespace {

constexpr double worth_naming = 0.005;  // of the recorded time

enum RecordedNote : std::int8_t { ByLaw, BelowPeak, Scaled };

/// As it stands, else in the folder of presets, so that examples can name theirs.
std::string foundAt(const std::string& path) {
    std::error_code problem;
    if (path.empty() || std::filesystem::exists(path, problem) || std::filesystem::path(path).is_absolute())
        return path;
    const std::string shipped = presetsFolder() + "/" + path;
    return std::filesystem::exists(shipped, problem) ? shipped : path;
}

Expected<std::shared_ptr<const OperatorRecording>> keptRecording(const std::string& path, const std::string& beside) {
    static KeptFiles<OperatorRecording> kept(8);
    return kept.get({path, beside}, [&] { return readOperatorRecording(path, beside); });
}

/// Prices of another method, here and on the device of the recording.
struct DeviceRatio {
    KernelPricerPtr here, there;
    std::string method, device;
};

class RecordedPricer final : public KernelPricer {
public:
    RecordedPricer(DeviceView device, std::shared_ptr<const OperatorRecording> recording, RecordedLaunches launches,
                   std::optional<DeviceRatio> ratio, bool stated)
        : device_(std::move(device)),
          recording_(std::move(recording)),
          law_(RecordedLaw::of(launches)),
          launches_(std::move(launches)),
          ratio_(std::move(ratio)),
          stated_(stated) {}

    KernelPrice price(const Kernel& kernel) const override { return price(kernel, KernelUse::Forward); }

    KernelPrice price(const Kernel& kernel, KernelUse use) const override {
        const auto found = law_.find(kernel, use);
        KernelPrice price = rooflinePrice(device_, kernel);
        if (!found.family || !(found.seconds > 0)) return price;
        const double least = leastSeconds(device_, kernel);
        price.priced = true;
        price.domain = found.domain;
        price.seconds = found.seconds, price.low = found.low, price.high = found.high;
        if (!found.recorded) price.note = ByLaw;
        if (ratio_) {
            const KernelPrice here = ratio_->here->price(kernel), there = ratio_->there->price(kernel);
            if (!(there.seconds > 0) || !std::isfinite(here.seconds)) return rooflinePrice(device_, kernel);
            const double factor = here.seconds / there.seconds;
            // Both prices err, and in part alike: the side of one of them.
            const double below = here.seconds > 0 && here.low > 0 ? here.low / here.seconds : 1;
            const double above = here.seconds > 0 ? std::max(1.0, here.high / here.seconds) : 1;
            price.low *= factor * below, price.high *= factor * above;
            price.seconds *= factor;
            price.domain = std::max(price.domain, DomainVerdict::Edge);
            price.note = Scaled;
            return price;
        }
        price.stands = true;  // measured, or of a law of measured kernels of its kind
        if (found.recorded && price.seconds < least * (1 - 1e-9)) price.note = BelowPeak;
        return price;
    }

    KernelStory explain(const Kernel& kernel) const override {
        const auto found = law_.find(kernel, KernelUse::Forward);
        KernelStory story;
        if (!found.family) return story;
        story.terms.push_back({found.recorded ? "recorded time" : "by the law of its kind",
                               found.seconds,
                               Dimension::Time,
                               {},
                               found.recorded ? "mean of the equal kernels of the recording"
                                              : "the nearest recorded kernel, scaled by a + b FLOPs + c bytes"});
        story.terms.push_back(
            {"sizes recorded", static_cast<double>(found.family->sizes.size()), Dimension::Count, {}, "of its kind"});
        if (found.family->known)
            story.terms.push_back({"error of sizes left out",
                                   found.family->error,
                                   Dimension::Fraction,
                                   {},
                                   "mean, each recorded size predicted from the others"});
        return story;
    }

    std::vector<std::string> assumptions() const override {
        std::vector<std::string> said;
        said.push_back(
            fmt::format("{}: {} operators, {} recorded{}", recording_->file, recording_->operators.size(),
                        format(Seconds(launches_.seconds)),
                        recording_->device.empty() ? std::string() : fmt::format(" on {}", recording_->device)));
        if (!stated_)
            said.push_back("The recording does not state its device: this device is assumed (set it with on=PRESET)");
        if (launches_.riding > worth_naming * launches_.seconds)
            said.push_back(fmt::format("{:.1f} % of it are operators without a kernel here, counted with the next one",
                                       100 * launches_.riding / launches_.seconds));
        if (recording_->unlinked > 0)
            said.push_back(fmt::format("{} of kernels that no operator asked for are left out",
                                       format(Seconds(recording_->unlinked * 1e-6))));
        if (ratio_)
            said.push_back(
                fmt::format("Times are those of {}, multiplied by the ratio of `{}`'s predictions for the two devices",
                            ratio_->device, ratio_->method));
        return said;
    }
    std::string basis() const override {
        return fmt::format(
            "recorded kernels by the scatter of equal ones ({:.1f} % in the mean), other sizes by what "
            "each recorded size misses when it is predicted from the others of its kind",
            100 * std::expm1(law_.scatter()));
    }
    std::vector<KernelNote> notes() const override {
        return {{"of a size that was not recorded: by a linear law over the recorded ones of its kind"},
                {"recorded at less than peak rates allow here", "recorded.below-bound",
                 "Was it recorded on this device, in this number type?"},
                {"recorded on another device, and scaled"}};
    }
    std::vector<std::string> leftOut(std::span<const std::pair<const Kernel*, KernelUse>> kernels) const override {
        double seconds = 0;
        std::string named;
        for (const auto& [family, its] : law_.unasked(kernels)) {
            seconds += its;
            named += fmt::format("{}{}{}{} {}", named.empty() ? "" : ", ", toText(family->kind),
                                 family->function.empty() ? "" : " ", family->function, format(Seconds(its)));
        }
        if (seconds < worth_naming * launches_.seconds) return {};
        return {fmt::format("{} of the recording are of kinds that this question does not ask for: {}",
                            format(Seconds(seconds)), named)};
    }
    bool tellsUses() const override { return true; }
    bool launchInside() const override { return true; }
    // Kernels of a kind err alike with the law that they share.
    double correlation(KernelKind) const override { return 0.5; }

private:
    DeviceView device_;
    std::shared_ptr<const OperatorRecording> recording_;
    RecordedLaw law_;
    RecordedLaunches launches_;
    std::optional<DeviceRatio> ratio_;
    bool stated_ = false;
};

std::string optionText(const BindContext& context, std::string_view key) {
    const auto found = context.options.find(key);
    return found == context.options.end() ? std::string() : found->second;
}

bool sameDevice(const DeviceView& a, const DeviceView& b) {
    const auto close = [](double x, double y) { return std::abs(x - y) <= 0.01 * std::max(std::abs(x), std::abs(y)); };
    return close(a.main().bandwidth.value, b.main().bandwidth.value) &&
           close(a.peak(true, DType::F16).value, b.peak(true, DType::F16).value) &&
           close(a.peak(false, DType::F32).value, b.peak(false, DType::F32).value);
}

Expected<std::optional<DeviceRatio>> ratioTo(const DeviceRef& place, const DeviceView& here, const std::string& on,
                                             const BindContext& context) {
    auto loaded = loadHardware(on);
    if (!loaded) return Unexpected(std::move(loaded.error()));
    const auto design = std::make_shared<const Hardware>(std::move(loaded->hardware));
    auto origin = firstDevice(design);
    if (!origin) return Unexpected(std::move(origin.error()));
    auto there = deviceView(*origin);
    if (!there) return Unexpected(std::move(there.error()));
    if (sameDevice(here, *there)) return std::optional<DeviceRatio>{};
    const std::string scale = optionText(context, "scale");
    if (scale.empty() || scale == "none")
        return fail("recorded.other-device",
                    fmt::format("the recording is of {} and the question of {}", there->name, here.name),
                    "a method that says how much faster one is than the other",
                    "recorded(…, scale=tile-hybrid), or ask about the recorded device", Place{{}, 0, 0, here.path});
    auto choice = methodChoice(scale, builtinMethods());
    if (!choice) return Unexpected(std::move(choice.error()));
    const KernelMethod* method = findKernelMethod(choice->id);
    if (!method || choice->id == "recorded")
        return fail("method.bad-option", fmt::format("`{}` does not tell two devices apart", scale),
                    "a kernel method such as tile-hybrid or wave-scaling");
    const BindContext bound{context.calibrations, choice->options, context.seed};
    auto pricerHere = method->bind(place, bound);
    if (!pricerHere) return Unexpected(std::move(pricerHere.error()));
    auto pricerThere = method->bind(*origin, bound);
    if (!pricerThere) return Unexpected(std::move(pricerThere.error()));
    return std::optional(DeviceRatio{std::move(*pricerHere), std::move(*pricerThere), scale, there->name});
}

Expected<KernelPricerPtr> bindRecorded(const DeviceRef& place, const BindContext& context) {
    const std::string path = optionText(context, "trace");
    if (path.empty())
        return fail("recorded.no-trace", "`recorded` answers from a recording, and none is given",
                    "a file of recorded operators: TrioSim's tables, a PyTorch execution trace with its timeline, or a "
                    "Chakra .et",
                    "recorded(trace=FILE)");
    auto device = deviceView(place);
    if (!device) return Unexpected(std::move(device.error()));
    auto recording = keptRecording(foundAt(path), foundAt(optionText(context, "tensors")));
    if (!recording) return Unexpected(std::move(recording.error()));
    const std::string on = optionText(context, "on");
    std::optional<DeviceRatio> ratio;
    if (!on.empty()) {
        auto made = ratioTo(place, *device, on, context);
        if (!made) return Unexpected(std::move(made.error()));
        ratio = std::move(*made);
    }
    auto launches = recordedLaunches(**recording, *device);
    if (!launches) return Unexpected(std::move(launches.error()));
    return KernelPricerPtr(std::make_shared<RecordedPricer>(std::move(*device), std::move(*recording),
                                                            std::move(*launches), std::move(ratio), !on.empty()));
}

std::vector<MethodOption> recordedOptions() {
    return {
        {.key = "trace",
         .title = "Recording",
         .fallback = "",
         .meaning =
             "A file of recorded operators: TrioSim's table, a PyTorch execution trace, or the Chakra .et made of it.",
         .needed = true},
        {.key = "tensors",
         .title = "Beside it",
         .fallback = "",
         .meaning = "TrioSim's table of tensors (else `_tensor_` for `_trace_` in the name), or the timeline of the "
                    "execution trace."},
        {.key = "on",
         .title = "Recorded on",
         .fallback = "",
         .meaning = "The device of the recording: a hardware preset or file; none: the device that is asked about."},
        {.key = "scale",
         .title = "To other devices by",
         .choices = {"none", "tile-hybrid", "wave-scaling"},
         .fallback = "none",
         .meaning = "A method whose predictions give the ratio of the two devices.",
         .slot = MethodLevel::Kernel},
        {.key = "fusion",
         .title = "Fusion",
         .choices = {"none", "epilogue", "compile", "apart"},
         .fallback = "none",
         .meaning = "What runs inside one kernel: nothing, as eager frameworks are recorded, or what an engine or a "
                    "compiler fuses."},
    };
}

MethodCard recordedCard() {
    return {
        .title = "Recorded operators",
        .methodology = Methodology::TraceDriven,
        .summary =
            "Kernels as a profiler recorded them on one device, other sizes by a law over the recorded ones. Ask "
            "it what another plan, batch or network makes of a run that you have profiled.",
        .platforms = {"GPU", "Accelerator", "TPU"},
        .evidence =
            {{"training steps as recorded", "GPU",
              "steps of ResNet-50 and VGG-13 on H100, batch 128 (TrioSim's tables), to the microsecond: 83,309 and "
              "94,462 us; ResNet-50's convolutions and norms in Chakra's test trace all found"},
             {"sizes not recorded", "GPU",
              "each size predicted from the others of its table: 7.0 % of the time off for VGG-13, 34 % for ResNet-50 "
              "(activations 3 to 4 %, norms 24 to 35 %, convolutions 32 to 41 %); VGG-13 from ResNet-50's table 41 % "
              "too slow"},
             {"other plans", "GPU",
              "no measured pair; recorded at tp=2 from tile-hybrid's prices, other stages, copies and micro-batches "
              "come out within 0.03 % of its own answers, tp=1 and 4 within 4 %, other micro-batches within 5 %"}},
        .needs = {"A recording of operators with their shapes", "Shapes of all tensors",
                  "A main memory with a bandwidth"},
        .failureMode =
            "Kinds of operators that were not recorded use their roofline. Sizes far from the recorded ones follow a "
            "straight line, which libraries do not. Waiting between kernels is not recorded.",
        .lineage = {"Li et al.: TrioSim, ISCA 2025", "Liang et al.: Lumos, MLSys 2025"},
        .cost = {.fixed = 1.6e-3, .perOperator = 5e-8, .perKernel = 3e-7},
        .live = true,
    };
}

}  // namespace

KernelMethod recordedKernels() {
    return {
        .id = "recorded", .version = "1", .binder = bindRecorded, .options = recordedOptions(), .card = recordedCard()};
}

}  // namespace orrery
