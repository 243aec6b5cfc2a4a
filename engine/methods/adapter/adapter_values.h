#pragma once

// What inputs, commands and arithmetic of an adapter may name.
//
//   any device     device platform clock cores peak8 peak16 peak32 bandwidth launch; of each memory level by its name
//   and of
//                  the innermost (`inner`) and the one next to main memory (`outer`): .capacity .bandwidth .instances
//   an array       rows columns arrays array_clock mac_bits macs_per_element dataflow (ws, os, is, rs); with SRAMs:
//                  ifmap_words filter_words ofmap_words dram_words (a cycle)
//   a kernel       kernel kind dtype type_bytes batch m n k flops macs peak vector_peak read_bytes write_bytes bytes
//                  convolutions: N C K H W R S P Q stride dilation groups, and m n k of the product that they amount to
//                  on arrays: share_m share_n share_k share_rounds (the part of one array)
//   a workload     workload phase dtype weight_bits activation_bits kv_bits batch sequence flops hidden layers heads
//   kv_heads vocabulary
//                  parameters
//   a plan         devices tp pp dp cp ep microbatches

#include "methods/adapter/adapter.h"
#include "methods/array/systolic_machine.h"
#include "workload/kernel.h"

#include <map>
#include <string>
#include <string_view>

namespace orrery {

class AdapterValues {
public:
    void set(std::string name, double value) { numbers_[std::move(name)] = value; }
    /// Only letters, digits and ` ._+-` of it: a name of a drawing or a model must not become code of another program.
    void setWord(std::string name, std::string_view text);
    /// As it stands; for paths that Orrery makes, used in commands alone.
    void setPath(std::string name, std::string text) { words_[std::move(name)] = std::move(text); }

    /// The adapter's `let`, in order.
    Expected<void> let(const Adapter& adapter);
    /// Fails with `adapter.no-value` and the nearest names.
    Expected<double> number(const Expression& value, const Adapter& adapter, int line) const;
    /// With every `${…}` replaced; `$$` is a dollar.
    Expected<std::string> expand(const AdapterText& text, const Adapter& adapter) const;

private:
    std::map<std::string, double, std::less<>> numbers_;
    std::map<std::string, std::string, std::less<>> words_;
};

struct AdapterDevice {
    DeviceView view;
    std::optional<SpatialArrayView> array;
};
/// Views that the adapter asks for. Fails with `method.not-applicable`, or naming the missing attribute.
Expected<AdapterDevice> adapterDevice(const DeviceRef& place, const Adapter& adapter);

void setDevice(AdapterValues& values, const AdapterDevice& device);
void setKernel(AdapterValues& values, const AdapterDevice& device, const Kernel& kernel);
void setQuestion(AdapterValues& values, const Scenario& scenario);

/// `gemm-1024x4096x4096-bf16`: the folder in which a kernel's run stands.
std::string runName(std::string_view text);

}  // namespace orrery
