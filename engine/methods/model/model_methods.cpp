#include "methods/model/model_methods.h"

#include "methods/model/compose.h"
#include "methods/system/training/training_stack.h"

#include <algorithm>

namespace orrery {

namespace {

std::vector<MethodOption> compositionOptions() {
    std::vector<std::string_view> stacks;
    for (const TrainingStack& stack : trainingStacks()) stacks.push_back(stack.id);
    return {
        {.key = "launch",
         .title = "Launch",
         .choices = {"graph", "eager"},
         .fallback = "graph",
         .meaning = "A captured graph starts once; eager launches wait for the host to issue each kernel."},
        {.key = "fusion",
         .title = "Fusion",
         .choices = {"epilogue", "none", "compile"},
         .fallback = "epilogue",
         .meaning = "What runs inside one kernel: an inference engine's fused kernels, nothing as in an eager "
                    "framework, or what a compiler fuses."},
        {.key = "streams",
         .title = "Overlap of streams",
         .choices = {"off", "on"},
         .fallback = "off",
         .meaning = "Lets operators that do not need each other overlap, as far as units and memory allow."},
        {.key = "network",
         .title = "Network",
         .choices = {"closed-form", "kernels", "messages", "fluid", "packets", "ns3"},
         .fallback = "closed-form",
         .meaning =
             "Of a plan over several devices: collectives by NCCL's tuning model over the drawn links; inside "
             "a node as this method prices their kernels; or what is sent, followed over the drawn links, which "
             "carry one message at a time, share themselves max-min fair, or carry packets, ours or those of ns-3."},
        {.key = "stack",
         .title = "Training stack",
         .choices = stacks,
         .fallback = "kernels",
         .meaning = "Of a training step of a plan: what the software that trains adds to its kernels, as measured."},
        {.key = "step",
         .title = "Step",
         .choices = {"inference", "training"},
         .fallback = "inference",
         .meaning = "One forward pass, or a whole training step of one GPU.",
         .older = true},
        {.key = "optimizer",
         .title = "Optimizer",
         .choices = {"adam", "sgd", "none"},
         .fallback = "adam",
         .meaning = "Of a training step; none leaves forward and backward pass alone.",
         .older = true},
    };
}

}  // namespace

MethodCard kernelMethodCard(const KernelMethod& method) {
    MethodCard card = method.card;
    card.id = method.id;
    card.version = method.version;
    card.level = MethodLevel::Kernel;
    const auto fill = [](std::string_view& text, std::string_view usual) {
        if (text.empty()) text = usual;
    };
    fill(card.title, method.id);
    fill(card.summary, "Prices the kernels of a model one by one and composes them.");
    fill(card.failureMode, "Not known.");
    if (card.platforms.empty()) card.platforms = {"GPU"};
    if (card.needs.empty()) {
        card.needs = {"A GPU with cores, clock and memory bandwidth", "Shapes of all tensors",
                      "Calibrations, of the device or of others; without them intervals are wide"};
    }
    return card;
}

Method modelMethod(const KernelMethod& method) {
    MethodCard card = kernelMethodCard(method);
    card.options = method.options;
    for (MethodOption& option : compositionOptions()) {
        const bool own = std::any_of(method.options.begin(), method.options.end(),
                                     [&](const MethodOption& each) { return each.key == option.key; });
        if (!own) card.options.push_back(std::move(option));
    }
    card.tasks = {TaskKind::Pass, TaskKind::OneOperator, TaskKind::TrainingStep, TaskKind::ServingRun};
    return {card, [method, card](const Scenario& scenario, EstimateContext& context) {
                return estimateComposed(scenario, method, card, context);
            }};
}

std::vector<Method> modelMethods() {
    std::vector<Method> methods;
    for (const KernelMethod& method : kernelMethods()) methods.push_back(modelMethod(method));
    return methods;
}

}  // namespace orrery
