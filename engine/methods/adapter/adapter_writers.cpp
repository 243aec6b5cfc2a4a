#include "methods/adapter/adapter_writers.h"

#include "mapping/timeloop/timeloop.h"
#include "methods/adapter/run_folder.h"
#include "methods/array/array_kernel.h"
#include "methods/array/loop_nest.h"
#include "methods/system/training/chakra_files.h"

#include <fmt/format.h>

namespace orrery {

namespace {

Expected<std::string> timeloopText(const DeviceRef& place, const Kernel& kernel, bool all,
                                   const std::stop_token& stop) {
    auto device = arrayDevice(place);
    if (!device) return Unexpected(std::move(device.error()));
    const KernelOperator made = operatorOf(kernel);
    const auto serial = makeSerialExecutor();
    SearchContext context{*serial, stop};
    auto mapped = mapOperator(device->view, made.op(), made.graph, {}, context);
    if (!mapped) return Unexpected(std::move(mapped.error()));
    if (mapped->nests.size() != 1 || mapped->nests.front().times != 1)
        return fail("adapter.writer", "Timeloop is given one loop nest, and this kernel is several",
                    "a product or a convolution");
    const MappedNest& nest = mapped->nests.front();
    return all ? writeTimeloop(nest.problem, mapped->hardware, nest.mapping()) : writeTimeloopProblem(nest.problem);
}

Expected<void> put(const std::string& folder, const std::string& file, std::string_view text) {
    const auto there = RunFolder::kept(folder);
    if (!there) return Unexpected(there.error());
    return there->write(file, text);
}

Unexpected notHere(const AdapterInput& input, std::string_view what) {
    return fail("adapter.writer", fmt::format("`{}` cannot be written for {}", input.writer, what),
                "timeloop for kernels, chakra for training steps");
}

}  // namespace

const std::vector<std::string>& adapterWriters() {
    static const std::vector<std::string> names{"timeloop", "timeloop-problem", "chakra"};
    return names;
}

AdapterWriter kernelWriter(const DeviceRef& place, const Kernel& kernel, const std::stop_token& stop) {
    return [place, kernel, stop](const AdapterInput& input, const std::string& folder) -> Expected<void> {
        if (input.writer != "timeloop" && input.writer != "timeloop-problem") return notHere(input, "one kernel");
        auto text = timeloopText(place, kernel, input.writer == "timeloop", stop);
        if (!text) return Unexpected(std::move(text.error()));
        return put(folder, input.file, *text);
    };
}

AdapterWriter questionWriter(const Scenario& scenario, EstimateContext& context) {
    return [&scenario, &context](const AdapterInput& input, const std::string& folder) -> Expected<void> {
        if (input.writer != "chakra") return notHere(input, "a whole question");
        const auto found = context.options.find("compute");
        const auto choice =
            methodChoice(found == context.options.end() ? "tile-hybrid" : found->second, builtinMethods());
        if (!choice) return Unexpected(choice.error());
        EstimateContext kernels = context;
        kernels.options = choice->options;
        const auto traces = trainingTraces(*findMethod(choice->id), scenario, kernels);
        if (!traces) return Unexpected(traces.error());
        for (const ChakraFile& file : chakraFiles(*traces, input.file))
            if (auto written = put(folder, file.name, file.text); !written) return written;
        return {};
    };
}

}  // namespace orrery
