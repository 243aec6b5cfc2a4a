#pragma once

// The real thing for the tests of panels: a device of the catalogue, a built-in model, the answers of all methods.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "widgets/common/snapshot.h"

#include <string>

namespace orrery::ui::fixture {

inline HardwarePtr hardware(const std::string& id = "h100-sxm") {
    auto loaded = loadHardware(id);
    return loaded ? std::make_shared<const Hardware>(std::move(loaded->hardware)) : nullptr;
}

inline WorkloadRecipe recipe(const std::string& source = "llama-2-7b") {
    WorkloadRecipe recipe;
    recipe.source = source;
    if (const WorkloadInfo* info = builtinWorkload(source)) recipe.options = info->usual;
    if (source == "llama-2-7b") {
        recipe.options.phase = Phase::Decode;
        recipe.options.sequence = 2048;
    }
    return recipe;
}

inline WorkloadPtr workload(const std::string& source = "llama-2-7b") {
    auto loaded = loadWorkload(recipe(source));
    return loaded ? *loaded : nullptr;
}

inline std::shared_ptr<Snapshot> ask(HardwarePtr hardware, WorkloadPtr workload) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->scenario = {hardware, workload};
    if (auto view = deviceView(*hardware)) snapshot->device = std::make_shared<const DeviceView>(std::move(*view));
    const auto executor = makeSerialExecutor();
    int colour = 0;
    for (const Method& method : builtinMethods()) {
        EstimateContext context{*executor, {}};
        if (method.card.id == "gpu-cycle") context.options = {{"seconds", "0.1"}};  // its views do not need more
        Answer answer;
        answer.method = QString::fromUtf8(method.card.id.data(), qsizetype(method.card.id.size()));
        answer.title = QString::fromUtf8(method.card.title.data(), qsizetype(method.card.title.size()));
        answer.colour = colour++;
        if (auto estimated = estimate(method, snapshot->scenario, context))
            answer.estimate = std::make_shared<const Estimate>(std::move(*estimated));
        else
            answer.failure = estimated.error();
        snapshot->answers.push_back(std::move(answer));
    }
    return snapshot;
}

inline Answer failed() {
    Answer answer;
    answer.method = QStringLiteral("dram-trace");
    answer.title = QStringLiteral("DRAM trace replay");
    answer.colour = 4;
    answer.failure = Diagnostic{Severity::Error,
                                "method.missing-attribute",
                                "hbm3 has no timing table",
                                "an attribute `timing` naming a known DRAM standard",
                                "Give system/h100/hbm3 a timing such as HBM3",
                                {{}, 0, 0, "system/h100/hbm3.timing"}};
    return answer;
}

inline Diagnostics problems() {
    return {{Severity::Error,
             "hardware.missing",
             "A buffer without a capacity",
             "a capacity such as `228 KiB`",
             "Give smem a capacity",
             {{}, 0, 0, "system/h100/sm/smem.capacity"}},
            warning("hardware.unusual", "The bandwidth of hbm3 is outside the usual range",
                    "Check the unit: Gb/s is an eighth of GB/s", {{}, 0, 0, "system/h100/hbm3.bandwidth"}),
            {Severity::Note,
             "onnx.unbound",
             "The symbol `batch` is not bound; 1 is taken",
             {},
             {},
             {"models/resnet50.onnx", 0, 0, "input"}},
            warning("yaml.unknown-key", "Unknown key `bandwith` is kept but means nothing", "Did you mean `bandwidth`?",
                    {"designs/mine.yaml", 14, 9, {}})};
}

}  // namespace orrery::ui::fixture
