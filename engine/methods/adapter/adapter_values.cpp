#include "methods/adapter/adapter_values.h"

#include "base/text/nearest.h"
#include "methods/kernel_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace orrery {

namespace {

std::string_view dataflowWord(Dataflow dataflow) {
    switch (dataflow) {
        case Dataflow::WeightStationary:
            return "ws";
        case Dataflow::OutputStationary:
            return "os";
        case Dataflow::InputStationary:
            return "is";
        case Dataflow::RowStationary:
            return "rs";
        default:
            return "ws";
    }
}

std::string numberText(double value) {
    if (value == std::floor(value) && std::abs(value) < 9e15) return fmt::format("{:.0f}", value);
    return fmt::format("{}", value);
}

void setLevel(AdapterValues& values, const std::string& name, const MemoryLevel& level) {
    values.set(name + ".capacity", level.capacity.value);
    values.set(name + ".bandwidth", level.bandwidth.value);
    values.set(name + ".instances", static_cast<double>(std::max<std::int64_t>(1, level.instances)));
}

// The product that a convolution amounts to, group by group.
void setProduct(AdapterValues& values, double batch, double m, double n, double k) {
    values.set("batch", batch);
    values.set("m", m);
    values.set("n", n);
    values.set("k", k);
}

}  // namespace

void AdapterValues::setWord(std::string name, std::string_view text) {
    std::string plain;
    for (const char each : text) {
        const bool kept = std::isalnum(static_cast<unsigned char>(each)) || each == ' ' || each == '.' || each == '_' ||
                          each == '+' || each == '-';
        plain += kept ? each : '_';
    }
    if (plain.starts_with("-")) plain.front() = '_';  // no argument of a command may pass for an option
    words_[std::move(name)] = std::move(plain);
}

Expected<void> AdapterValues::let(const Adapter& adapter) {
    for (const NamedExpression& each : adapter.let) {
        auto value = number(each.value, adapter, each.line);
        if (!value) return Unexpected(std::move(value.error()));
        set(each.name, *value);
    }
    return {};
}

Expected<double> AdapterValues::number(const Expression& value, const Adapter& adapter, int line) const {
    std::vector<double> given;
    for (const std::string& name : value.names()) {
        const auto found = numbers_.find(name);
        if (found == numbers_.end()) {
            std::vector<std::string> known;
            for (const auto& [each, ignored] : numbers_) known.push_back(each);
            return fail("adapter.no-value", fmt::format("this question has no value `{}`", name),
                        "a value of the device, kernel, model or plan, a name of `let` or of `read`",
                        didYouMean(name, known), adapter.place(line));
        }
        given.push_back(found->second);
    }
    const double result = value.evaluate(given);
    if (!std::isfinite(result))
        return fail("adapter.no-value", "the arithmetic gives no finite number", "no division by zero", {},
                    adapter.place(line));
    return result;
}

Expected<std::string> AdapterValues::expand(const AdapterText& text, const Adapter& adapter) const {
    std::string made;
    int line = text.line;
    for (std::size_t at = 0; at < text.text.size(); ++at) {
        const char sign = text.text[at];
        if (sign == '\n') ++line;
        const char next = at + 1 < text.text.size() ? text.text[at + 1] : '\0';
        if (sign != '$' || (next != '{' && next != '$')) {
            made += sign;
            continue;
        }
        if (next == '$') {
            made += '$';
            ++at;
            continue;
        }
        const auto end = text.text.find('}', at);
        if (end == std::string::npos)
            return fail("adapter.value", "`${` without its `}`", "${m}", {}, adapter.place(line));
        const std::string inside = text.text.substr(at + 2, end - at - 2);
        at = end;
        if (const auto word = words_.find(inside); word != words_.end()) {
            made += word->second;
            continue;
        }
        auto parsed = Expression::parse(inside);
        if (!parsed)
            return fail("adapter.expression", fmt::format("`{}` is no arithmetic over values", inside), "${m * k}", {},
                        adapter.place(line));
        auto value = number(*parsed, adapter, line);
        if (!value) return Unexpected(std::move(value.error()));
        made += numberText(*value);
    }
    return made;
}

Expected<AdapterDevice> adapterDevice(const DeviceRef& place, const Adapter& adapter) {
    auto view = deviceView(place);
    if (!view) return Unexpected(std::move(view.error()));
    if (!adapter.platform.empty() && view->platform != adapter.platform) {
        return fail("method.not-applicable",
                    fmt::format("{} is asked about a {}, and {} is none", adapter.title, adapter.platform, view->name),
                    fmt::format("a device with `platform: {}`", adapter.platform), {}, Place{{}, 0, 0, view->path});
    }
    AdapterDevice made{std::move(*view), {}};
    auto array = spatialArrayView(place);
    if (array) {
        made.array = std::move(*array);
    } else if (adapter.array) {
        if (array.error().code == "hardware.no-array") array.error().code = "method.not-applicable";
        return Unexpected(std::move(array.error()));
    }
    return made;
}

void setDevice(AdapterValues& values, const AdapterDevice& device) {
    const DeviceView& view = device.view;
    values.setWord("device", view.name);
    values.setWord("platform", view.platform);
    values.set("clock", view.clock.value);
    values.set("cores", static_cast<double>(view.cores));
    values.set("launch", view.launchOverhead.value);
    values.set("bandwidth", view.main().bandwidth.value);
    for (const auto& [name, type] :
         {std::pair{"peak32", DType::F32}, std::pair{"peak16", DType::F16}, std::pair{"peak8", DType::I8}})
        values.set(name, view.peak(true, type).value);
    for (const MemoryLevel& level : view.levels) setLevel(values, level.name, level);
    // Next to main memory, and innermost; of a device without caches both are main memory itself.
    setLevel(values, "outer", view.levels[std::min<std::size_t>(1, view.levels.size() - 1)]);
    setLevel(values, "inner", view.levels.back());
    if (!device.array) return;
    const SpatialArrayView& array = *device.array;
    values.set("rows", static_cast<double>(array.rows));
    values.set("columns", static_cast<double>(array.columns));
    values.set("arrays", static_cast<double>(array.arrays));
    values.set("array_clock", array.clock.value);
    values.set("mac_bits", static_cast<double>(array.macBits));
    values.set("macs_per_element", static_cast<double>(array.macsPerElement));
    values.setWord("dataflow", dataflowWord(array.dataflow.value_or(Dataflow::WeightStationary)));
}

void setKernel(AdapterValues& values, const AdapterDevice& device, const Kernel& kernel) {
    values.setWord("kernel", toText(kernel));
    values.setWord("kind", toText(kernel.kind));
    values.setWord("dtype", toText(kernel.type));
    const double elementBytes = static_cast<double>(bits(kernel.type)) / 8;
    values.set("type_bytes", elementBytes);
    values.set("flops", kernel.flops);
    values.set("macs", kernel.flops / 2);
    values.set("read_bytes", kernel.readBytes);
    values.set("write_bytes", kernel.writeBytes);
    values.set("bytes", kernel.bytes());
    const bool matrix = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution;
    values.set("peak", device.view.peak(matrix, kernel.type).value);
    values.set("vector_peak", device.view.peak(false, kernel.type).value);
    double batch = static_cast<double>(kernel.batch), m = static_cast<double>(kernel.m),
           n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
    if (kernel.kind == KernelKind::Convolution) {
        const ConvolutionShape& c = kernel.convolution;
        const std::pair<const char*, std::int64_t> shape[] = {
            {"N", c.batch},    {"C", c.inChannels},   {"K", c.outChannels},     {"H", c.height},
            {"W", c.width},    {"R", c.kernelHeight}, {"S", c.kernelWidth},     {"P", c.outHeight},
            {"Q", c.outWidth}, {"stride", c.stride},  {"dilation", c.dilation}, {"groups", c.groups}};
        for (const auto& [name, value] : shape) values.set(name, static_cast<double>(value));
        const double groups = static_cast<double>(std::max<std::int64_t>(1, c.groups));
        batch = groups;
        m = static_cast<double>(c.batch * c.outHeight * c.outWidth);
        n = static_cast<double>(c.outChannels) / groups;
        k = static_cast<double>(c.inChannels * c.kernelHeight * c.kernelWidth) / groups;
    }
    setProduct(values, batch, m, n, k);
    if (!device.array || !matrix) return;
    const auto machine = systolicMachine(*device.array, elementBytes);
    if (!machine) return;
    values.set("ifmap_words", static_cast<double>(machine->array.ifmapWords));
    values.set("filter_words", static_cast<double>(machine->array.filterWords));
    values.set("ofmap_words", static_cast<double>(machine->array.ofmapWords));
    values.set("dram_words", static_cast<double>(machine->array.ifmapBandwidth));
    const SystolicShare share = systolicShare(batch, m, n, k, *machine);
    values.set("share_m", static_cast<double>(share.layer.outHeight() * share.layer.outWidth()));
    values.set("share_n", static_cast<double>(share.layer.filters));
    values.set("share_k",
               static_cast<double>(share.layer.filterHeight * share.layer.filterWidth * share.layer.channels));
    values.set("share_rounds", static_cast<double>(share.rounds));
}

void setQuestion(AdapterValues& values, const Scenario& scenario) {
    const Workload& workload = *scenario.workload;
    const WorkloadOptions& options = workload.recipe.options;
    values.setWord("workload", workload.id);
    values.setWord("phase", toText(options.phase));
    values.setWord("dtype", toText(options.activations));
    values.set("type_bytes", static_cast<double>(bits(options.activations)) / 8);
    values.set("weight_bits", static_cast<double>(bits(options.weights)));
    values.set("activation_bits", static_cast<double>(bits(options.activations)));
    values.set("kv_bits", static_cast<double>(bits(options.kv)));
    values.set("batch", static_cast<double>(options.batch));
    values.set("sequence", static_cast<double>(options.sequence));
    values.set("flops", workload.totals.flops);
    if (const auto& facts = workload.transformer) {
        values.set("hidden", static_cast<double>(facts->hidden));
        values.set("layers", static_cast<double>(facts->layers));
        values.set("heads", static_cast<double>(facts->heads));
        values.set("kv_heads", static_cast<double>(facts->kvHeads));
        values.set("vocabulary", static_cast<double>(facts->vocabulary));
        values.set("parameters", facts->parameters);
    }
    const Plan& plan = scenario.plan;
    values.set("devices", static_cast<double>(plan.devices()));
    values.set("tp", static_cast<double>(plan.tensor));
    values.set("pp", static_cast<double>(plan.pipeline));
    values.set("dp", static_cast<double>(plan.data));
    values.set("cp", static_cast<double>(plan.context));
    values.set("ep", static_cast<double>(plan.expert));
    values.set("microbatches", static_cast<double>(plan.microbatches));
}

std::string runName(std::string_view text) {
    std::string name;
    for (std::size_t at = 0; at < text.size() && name.size() < 120; ++at) {
        const char each = text[at];
        if (text.substr(at).starts_with("×")) {
            name += 'x';
            at += std::string_view("×").size() - 1;
        } else if (std::isalnum(static_cast<unsigned char>(each)) || each == '.' || each == '_') {
            name += each;
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    while (name.ends_with("-")) name.pop_back();
    return name.empty() ? "run" : name;
}

}  // namespace orrery
