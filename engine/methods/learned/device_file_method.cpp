#include "methods/learned/device_file_method.h"

#include "base/kept_files.h"
#include "learning/edge/device_file.h"
#include "methods/answer/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double halfPerMean = 2.06;  // of a normal error: 90 % half-width ÷ mean absolute value

/// Read once, while the file stays as it is.
Expected<std::shared_ptr<const DeviceFile>> keptDevice(const std::string& path) {
    static KeptFiles<DeviceFile> kept(8);
    return kept.get({path}, [&] { return readDeviceFile(path); });
}

Expected<Estimate> answerDevice(const MethodCard& card, const Scenario& scenario, EstimateContext& context) {
    const std::string path(optionOf(card, context, "file"));
    if (path.empty()) {
        return fail("edge.no-file", "`edge-device` answers from the predictor of a device, and no file is given",
                    "edge-device(file=FILE)", "`orrery-cli edge TABLE --measured MINE --save FILE` makes one");
    }
    const auto kept = keptDevice(path);
    if (!kept) return Unexpected(kept.error());
    const DeviceFile& device = **kept;
    const Workload& workload = *scenario.workload;
    if (scenario.plan.split()) {
        return fail("edge.plan", fmt::format("{} is one device", device.device), "a question without a plan",
                    "leave the plan out");
    }
    if (workload.recipe.options.phase != Phase::Forward || !workload.recipe.whatIfs.empty()) {
        return fail("edge.other-network", "only networks as they were measured are predicted", "a forward pass, unchanged",
                    "leave phases and changes out");
    }
    const auto told = device.tell(workload);
    if (!told) return Unexpected(told.error());
    Estimate answer;
    answer.latency = Seconds(1e-3 * told->mean);
    answer.interval = {Seconds(1e-3 * std::min(told->low, told->mean)),
                       Seconds(1e-3 * std::max(told->high, told->mean)), IntervalKind::Residuals,
                       fmt::format("{} measured networks of {}; as wide as left-out devices and samples were off",
                                   device.samples, device.device)};
    const double reach = std::log(answer.interval.high.value / std::max(1e-300, answer.interval.low.value)) / 2;
    const double outside = device.outside(workload);
    answer.support = Support{.error = reach / halfPerMean,
                             .outside = outside > 1 ? 1.0 : 0.0,
                             .what = fmt::format("{} samples of {}, and {} other devices", device.samples,
                                                 device.device, device.knownDevices)};
    if (outside > 1) {
        answer.warnings.push_back(warning("edge.outside", "the network is unlike all that were measured",
                                          "measure some that are as large or small"));
    }
    answer.warnings.push_back(warning("edge.drawing", fmt::format("it predicts {}, whatever is drawn", device.device),
                                      "compare it with methods that answer for the drawing of that device"));
    answer.assumptions.push_back(
        fmt::format("Predicted from {} measured networks and {} other devices{}{}, at their batch, input and types",
                    device.samples, device.knownDevices, device.table.empty() ? "" : " of ", device.table));
    answer.assumptions.push_back("It says how long the whole takes, and nothing of single operators");
    return answer;
}

}  // namespace

Method deviceFileMethod() {
    MethodCard card{
        .id = "edge-device",
        .title = "Device predicted from samples",
        .methodology = Methodology::Learned,
        .level = MethodLevel::Model,
        .summary =
            "A phone, board or NPU as it is predicted from a few networks measured on it and from other devices' tables "
            "(`orrery-cli edge`, Bring your device). For networks of a search space by their code, by name, or, "
            "with a graph network over operators, any workload.",
        .platforms = {"CPU", "GPU", "Accelerator"},
        .evidence =
            {{"networks of a search space", "CPU",
              "NAS-Bench-201 on HELP's six devices: mean rank correlation 0.968 with ten samples, 0.947 with five, "
              "0.894 with none"}},
        .needs = {"A file that `orrery-cli edge … --save` has written",
                  "A network of the space that was measured, or a file that reads operators"},
        .failureMode =
            "It knows one device, and networks of one space unless its file reads operators. A network unlike those "
            "measured is flagged; another software version or clock of the device is not seen.",
        .lineage = {"Gelman et al.: Bayesian Data Analysis, 3rd ed., chapter 15",
                    "Lee et al.: HELP, NeurIPS 2021 (the protocol)"},
        .cost = {.fixed = 5e-5},
        .version = "1",
        .live = true,
        .options = {{.key = "file",
                     .title = "File",
                     .choices = {},
                     .fallback = "",
                     .meaning = "What `orrery-cli edge … --save FILE` has written.",
                     .needed = true}},
        .tasks = {TaskKind::Pass}};
    return {card, [card](const Scenario& scenario, EstimateContext& context) {
                return answerDevice(card, scenario, context);
            }};
}

}  // namespace orrery
