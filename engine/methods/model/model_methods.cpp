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
         .meaning = "Which operators form one kernel: as an inference engine fuses them, as an eager framework runs "
                    "them (none), or as a compiler fuses them."},
        {.key = "streams",
         .title = "Overlap of streams",
         .choices = {"off", "on"},
         .fallback = "off",
         .meaning = "Lets independent operators overlap, as far as units and memory allow."},
        {.key = "network",
         .title = "Network",
         .choices = {"closed-form", "kernels", "messages", "fluid", "packets", "ns3"},
         .fallback = "closed-form",
         .meaning =
             "How the collectives of a plan are timed. closed-form: NCCL's tuning model over the drawn links. kernels: "
             "inside a node by this method. messages, fluid, packets, ns3: messages are simulated over the drawn "
             "links; a link carries one message at a time, is shared max-min fair, or carries packets."},
        {.key = "stack",
         .title = "Training stack",
         .choices = stacks,
         .fallback = "kernels",
         .meaning = "For a training step of a plan: the measured overhead of the training software."},
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
         .meaning = "For a training step; none: only forward and backward pass.",
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
