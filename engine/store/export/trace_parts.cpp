#include "store/export/trace_parts.h"

#include "store/export/json_parts.h"

#include <fmt/format.h>

namespace orrery::store {

std::string traceMicroseconds(std::int64_t ps) {
    const bool negative = ps < 0;
    const auto size = static_cast<std::uint64_t>(negative ? -ps : ps);
    return fmt::format("{}{}.{:06}", negative ? "-" : "", size / 1000000, size % 1000000);
}

std::string traceText(std::string_view text) {
    return dumped(Json(text), -1);
}

TraceEvents::TraceEvents(std::string_view head)
    : out_(fmt::format("{{\"displayTimeUnit\":\"ns\",{},\n\"traceEvents\":[", head)) {}

void TraceEvents::add(std::string_view event) {
    out_ += separator_;
    out_ += event;
    separator_ = ",\n";
}

void TraceEvents::process(int process, std::string_view name) {
    add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", process,
                    traceText(name)));
}

void TraceEvents::thread(int process, std::size_t thread, std::string_view name, std::size_t place) {
    add(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process, thread,
                    traceText(name)));
    add(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", process,
                    thread, place));
}

std::string TraceEvents::text() && {
    out_ += "\n]}\n";
    return std::move(out_);
}

}  // namespace orrery::store
