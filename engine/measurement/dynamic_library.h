#pragma once

// A shared library that is looked for when it is needed, so that no build depends on it.

#include "base/diagnostic.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

class DynamicLibrary {
public:
    /// The first of `names` that the dynamic linker finds. Fails with `measure.no-library`, naming all of them.
    static Expected<DynamicLibrary> open(std::span<const std::string_view> names);

    const std::string& name() const { return name_; }
    /// Null if the library has no such function.
    void* find(const char* function) const;
    /// Sets `function` to the library's of that name; false if there is none.
    template <class F>
    bool load(F*& function, const char* name) const {
        function = reinterpret_cast<F*>(find(name));
        return function != nullptr;
    }

private:
    std::shared_ptr<void> handle_;
    std::string name_;
};

}  // namespace orrery
