#include "measurement/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace orrery {

Expected<DynamicLibrary> DynamicLibrary::open(std::span<const std::string_view> names) {
    std::string tried;
    for (const std::string_view name : names) {
        DynamicLibrary library;
        library.name_ = name;
        if (void* handle = dlopen(library.name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            // Never closed: OpenMP's threads of a library outlive the last call into it.
            library.handle_ = std::shared_ptr<void>(handle, [](void*) {});
            return library;
        }
        tried.append(tried.empty() ? "" : ", ").append(name);
    }
    return fail("measure.no-library", fmt::format("none of {} is installed", tried), "a library of kernels",
                "on Debian: apt install libdnnl2, or libopenblas0");
}

void* DynamicLibrary::find(const char* function) const {
    return handle_ ? dlsym(handle_.get(), function) : nullptr;
}

}  // namespace orrery
