#pragma once

// What writers of Chrome's trace events share. For sources of the store only.

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::store {

/// Microseconds with all six digits of the picoseconds: a double would round long traces.
std::string traceMicroseconds(std::int64_t ps);
std::string traceText(std::string_view text);  ///< as a JSON string

/// `traceEvents`, one a line: begins with `head` (the members before it, without a comma behind), ends in text().
class TraceEvents {
public:
    explicit TraceEvents(std::string_view head);
    void add(std::string_view event);
    void process(int process, std::string_view name);
    void thread(int process, std::size_t thread, std::string_view name, std::size_t place);
    std::string text() &&;

private:
    std::string out_;
    std::string_view separator_ = "\n";
};

}  // namespace orrery::store
