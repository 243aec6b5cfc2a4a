#include "methods/model/kernel_slot.h"

#include <fmt/format.h>

namespace orrery {

std::string_view optionOf(const BindContext& context, std::string_view key, std::string_view fallback) {
    const auto found = context.options.find(key);
    return found == context.options.end() || found->second.empty() ? fallback : std::string_view(found->second);
}

Expected<KernelPricerPtr> fillSlot(std::string_view text, std::string_view self, const DeviceRef& place,
                                   const BindContext& context) {
    auto choice = methodChoice(text, builtinMethods());
    if (!choice) return Unexpected(std::move(choice.error()));
    const KernelMethod* method = findKernelMethod(choice->id);
    if (!method || choice->id == self)
        return fail("method.bad-option", fmt::format("`{}` predicts no kernels of the device itself", text),
                    "a kernel method such as tile-hybrid or cpu-roofline");
    return method->bind(place, {context.calibrations, choice->options, context.seed});
}

}  // namespace orrery
